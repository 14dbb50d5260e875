internal import Holdfast
internal import HoldfastJournal

/// The fleet's pauses in force as a journal has last carried them out. A note of the journal keeps them, from which they are put
/// back where the database went back to before they were ordered: journals that come later would not know of them.
///
///     0  u8    version: 1
///     1  u8    count; then for each: u8 subject (0 lanes, 1 all lanes, 2 a tag) · i64 since · u8 length of the stamp · u16 length
///              of the target · u16 length of the reason · u16 length of the name · stamp · target · reason · who has ordered it
package struct KeptPauses: Hashable, Sendable {
    /// The name of the note.
    package static let noteName = "fleet/pauses"
    private static let version: UInt8 = 1
    private static let headLength = 16

    /// A pause, and the stamp of its order.
    package struct Pause: Hashable, Sendable {
        package var order: FleetOrder
        package var stamp: String
    }

    /// In the order in which they were given.
    package private(set) var all: [Pause]

    package init(_ orders: FleetOrders) {
        all = orders.all.filter(\.isPause).compactMap { order in
            orders.stamp(of: order.number).map { Pause(order: order, stamp: $0) }
        }
    }

    /// Those whose orders a database that went back in time does not know.
    func missing(in orders: FleetOrders) -> [Pause] { all.filter { !orders.knows(stamp: $0.stamp) } }

    // MARK: The note

    /// - Returns: nil for bytes of another form.
    package init?(note bytes: [UInt8]) {
        guard bytes.count >= 2, bytes[0] == Self.version else { return nil }
        all = []
        var position = 2
        for _ in 0..<bytes[1] {
            guard let pause = Self.pause(bytes, &position) else { return nil }
            all.append(pause)
        }
        guard position == bytes.count else { return nil }
    }

    /// `nil` where nothing is paused.
    package var note: [UInt8]? {
        guard !all.isEmpty else { return nil }
        var bytes: [UInt8] = [Self.version, UInt8(clamping: all.count)]
        for pause in all.prefix(Int(UInt8.max)) {
            let (kind, target): (UInt8, [UInt8]) =
                switch pause.order.subject {
                case .lanes(let pattern?): (0, Array(pattern.description.utf8))
                case .lanes(nil): (1, [])
                case .tags(let tag): (2, tag ?? [])
                }
            bytes.append(kind)
            bytes.appendLittleEndian(UInt64(bitPattern: pause.order.at.milliseconds))
            bytes.append(UInt8(pause.stamp.utf8.count))
            let texts = [target, Array(pause.order.reason.utf8), Array(pause.order.by.utf8)]
            for text in texts { bytes.appendLittleEndian(UInt16(text.count)) }
            bytes += pause.stamp.utf8
            for text in texts { bytes += text }
        }
        return bytes
    }

    private static func pause(_ bytes: [UInt8], _ position: inout Int) -> Pause? {
        let head = position
        guard bytes.count >= head + headLength else { return nil }
        position += headLength
        var texts: [ArraySlice<UInt8>] = []
        let lengths = [Int(bytes[head + 9])] + [10, 12, 14].map { Int(bytes.span.littleEndian16(at: head + $0)) }
        for length in lengths {
            guard bytes.count >= position + length else { return nil }
            texts.append(bytes[position..<(position + length)])
            position += length
        }
        let subject: FleetOrder.Subject
        switch bytes[head] {
        case 0:
            guard let pattern = LanePattern(String(decoding: texts[1], as: UTF8.self)) else { return nil }
            subject = .lanes(pattern)
        case 1: subject = .lanes(nil)
        case 2: subject = .tags(Array(texts[1]))
        default: return nil
        }
        let since = WallTime(milliseconds: Int64(bitPattern: bytes.span.littleEndian64(at: head + 1)))
        let order = FleetOrder(
            number: 0, subject, isPause: true, reason: String(decoding: texts[2], as: UTF8.self),
            by: String(decoding: texts[3], as: UTF8.self), at: since)
        return Pause(order: order, stamp: String(decoding: texts[0], as: UTF8.self))
    }
}
