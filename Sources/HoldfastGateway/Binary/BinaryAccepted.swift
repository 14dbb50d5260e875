internal import HoldfastLegacyAPNs
internal import NIOCore

/// The notifications of one connection that are on disk, in their order, from the first on of which an error may still be
/// said. A pure machine.
///
/// An error says that everything before the one it names was taken. So it waits, for a while, until that has ended, and the
/// first one that was rejected is named.
struct BinaryAccepted: Sendable {
    struct Entry: Sendable {
        let fate: BinaryFate
        let key: BinaryRepeats.Key
        /// Nil for one that no error can name.
        let identifier: UInt32?
        fileprivate var ending: BinaryFate.Ending?

        init(_ fate: BinaryFate, _ key: BinaryRepeats.Key, identifier: UInt32?) {
            (self.fate, self.key, self.identifier) = (fate, key, identifier)
        }
    }

    /// How long an error waits for the ends of earlier ones.
    private let patience: TimeAmount
    private var entries: ArraySlice<Entry> = []
    /// The number of the first entry.
    private var first = 0
    /// The lowest number of those that were rejected, and since when one is known.
    private var rejected: (number: Int, since: NIODeadline)?
    /// Whether an error has been decided on: everything behind it is kept, however it ends, because it is called discarded.
    private var keepsAll = false

    init(patience: TimeAmount) { self.patience = patience }

    var count: Int { entries.count }
    /// Whether one has not ended.
    var isPending: Bool { !entries.isEmpty }

    /// - Returns: its number, for ``ended(_:_:at:)``.
    mutating func append(_ entry: Entry) -> Int {
        entries.append(entry)
        return first + entries.count - 1
    }

    /// - Returns: the entries that are done with, whose places are free.
    mutating func ended(_ number: Int, _ ending: BinaryFate.Ending, at now: NIODeadline) -> Int {
        guard number >= first, number - first < entries.count else { return 0 }
        let index = entries.startIndex + number - first
        if case .rejected = ending, entries[index].identifier != nil {
            entries[index].ending = ending
            rejected = (min(number, rejected?.number ?? number), rejected?.since ?? now)
        } else {
            entries[index].ending = .fine
        }
        var count = 0
        while !keepsAll, entries.first?.ending == .fine {
            entries.removeFirst()
            count += 1
        }
        first += count
        if entries.isEmpty { entries = [] }
        return count
    }

    /// Gives up the first entry, to make room for another.
    mutating func dropFirst() -> BinaryFate? {
        guard let entry = entries.popFirst() else { return nil }
        if rejected?.number == first { rejected = nil }
        first += 1
        return entry.fate
    }

    /// The time from which ``rejection(at:)`` says the first rejection known, although earlier ones have not ended.
    var deadline: NIODeadline? { rejected.map { $0.since + patience } }

    /// The error that is due; nil for none.
    func rejection(at now: NIODeadline) -> ErrorResponse? {
        guard let rejected, rejected.number == first || now >= rejected.since + patience else { return nil }
        let entry = entries[entries.startIndex + rejected.number - first]
        guard case .rejected(let status)? = entry.ending, let identifier = entry.identifier else { return nil }
        return ErrorResponse(status: status, identifier: identifier)
    }

    /// Takes away the one of ``rejection(at:)``, and those before it. Those behind it are kept from now on.
    ///
    /// - Returns: their fates.
    mutating func takeThroughRejection() -> [BinaryFate] {
        guard let rejected else { return [] }
        keepsAll = true
        let taken = entries.prefix(rejected.number - first + 1)
        entries.removeFirst(taken.count)
        first += taken.count
        self.rejected = nil
        return taken.map(\.fate)
    }

    /// Takes away all.
    mutating func takeAll() -> [Entry] {
        defer {
            first += entries.count
            entries = []
            rejected = nil
        }
        return Array(entries)
    }
}
