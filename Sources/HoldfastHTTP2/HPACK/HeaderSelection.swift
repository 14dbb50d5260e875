/// The fields of one message that its reader has asked for by ``HeaderNames``, and its method, path and authority.
///
/// It holds their places; a field becomes a string only on demand.
package struct HeaderSelection: Sendable {
    /// The names that are looked up at once. Those behind them are for fields that few messages have: see
    /// ``rareText(_:)``.
    package static let maxNames = 13
    /// The numbers of pseudo-header fields.
    package static let authority = 13
    package static let method = 14
    package static let path = 15

    /// The bytes of the whole list, or of this message alone.
    private let bytes: [UInt8]
    /// For each number the start of the value in ``bytes`` (the upper half) and its length plus one; 0 where there is
    /// none.
    private var places = SIMD16<UInt64>()
    /// The places of fields whose number is ``maxNames`` or greater.
    private var rare: [(number: Int, value: Range<Int>)] = []
    /// Whether one of them is there twice. The first one counts.
    package private(set) var hasDuplicates = false

    /// None.
    package init() { bytes = [] }

    /// The name of the first field that has no number and begins as those that the reader knows all of; nil for none.
    package private(set) var stranger: String?

    /// - Parameters:
    ///   - range: the message's fields in `list`.
    ///   - beginning: of names that the reader has asked for every one of; empty for none.
    ///   - repeatable: the first of the numbers, up to the last, whose fields may be there more than once. Not below
    ///     ``maxNames``.
    package init(
        _ list: HeaderList, _ range: Range<Int>, knowsAllOf beginning: [UInt8] = [],
        repeatableFrom repeatable: Int = .max
    ) {
        bytes = list.bytes
        let fields = list.fields.span
        for index in range {
            let field = fields[index]
            switch field.kind {
            case .method: set(Self.method, field)
            case .path: set(Self.path, field)
            case .authority: set(Self.authority, field)
            default:
                guard let number = field.number else {
                    if !beginning.isEmpty { note(field, beginning) }
                    continue
                }
                if number < Self.maxNames { set(number, field) } else { setRare(number, field, repeatable) }
            }
        }
    }

    private mutating func note(_ field: HeaderList.Field, _ beginning: [UInt8]) {
        guard stranger == nil, bytes.span.extracting(field.name).has(beginning, at: 0) else { return }
        stranger = String(decoding: bytes[field.name], as: UTF8.self)
    }

    private mutating func setRare(_ number: Int, _ field: HeaderList.Field, _ repeatable: Int) {
        guard number >= repeatable || !rare.contains(where: { $0.number == number }) else {
            hasDuplicates = true
            return
        }
        rare.append((number, field.value))
    }

    /// Whether there is any field of ``maxNames`` or a greater number.
    package var hasRare: Bool { !rare.isEmpty }

    /// The value of a field whose number is ``maxNames`` or greater; nil where there is none. Bytes that are no UTF-8 are
    /// replaced.
    package func rareText(_ number: Int) -> String? {
        rare.first { $0.number == number }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
    }

    /// The values of all fields of a number that is ``maxNames`` or greater, in their order.
    package func rareTexts(_ number: Int) -> [String] {
        rare.filter { $0.number == number }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
    }

    @inline(__always)
    private mutating func set(_ number: Int, _ field: HeaderList.Field) {
        guard places[number] == 0 else {
            hasDuplicates = true
            return
        }
        let value = field.value
        places[number] =
            UInt64(truncatingIfNeeded: value.lowerBound) &<< 32 | UInt64(truncatingIfNeeded: value.count &+ 1)
    }

    /// Whether there is a field of this number.
    @inline(__always)
    package func has(_ number: Int) -> Bool { places[number] != 0 }

    @inline(__always)
    private func place(_ number: Int) -> Range<Int>? {
        let place = places[number]
        guard place != 0 else { return nil }
        let start = Int(truncatingIfNeeded: place &>> 32)
        return start..<start &+ Int(truncatingIfNeeded: place & 0xffff_ffff) &- 1
    }

    /// A value; nil where there is none. Bytes that are no UTF-8 are replaced.
    package func text(_ number: Int) -> String? {
        place(number).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    /// Has the bytes of a value, none where there is no such field, looked at.
    @inline(__always)
    package func withBytes<R, E: Error>(_ number: Int, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        guard let place = place(number) else { return try body(Span<UInt8>()) }
        return try body(bytes.span.extracting(place))
    }

    /// Whether a value is the same as in another message, or there in neither.
    @inline(__always)
    package func isSame(_ number: Int, as other: HeaderSelection) -> Bool {
        guard let place = place(number), let others = other.place(number) else {
            return places[number] == other.places[number]
        }
        guard place.count == others.count else { return false }
        let (these, those) = (bytes.span.extracting(place), other.bytes.span.extracting(others))
        // Without a way out in the middle, many bytes are compared at a time.
        var difference: UInt8 = 0
        for index in these.indices { difference |= these[index] ^ those[index] }
        return difference == 0
    }

    /// The same, to be kept: without the bytes of the messages beside it.
    package func kept() -> HeaderSelection { HeaderSelection(keeping: self) }

    private init(keeping other: HeaderSelection) {
        var bytes: [UInt8] = []
        hasDuplicates = other.hasDuplicates
        for number in 0..<places.scalarCount {
            guard let place = other.place(number) else { continue }
            places[number] = UInt64(bytes.count) << 32 | UInt64(place.count + 1)
            bytes += other.bytes[place]
        }
        for (number, value) in other.rare {
            rare.append((number, bytes.count..<bytes.count + value.count))
            bytes += other.bytes[value]
        }
        self.bytes = bytes
    }
}
