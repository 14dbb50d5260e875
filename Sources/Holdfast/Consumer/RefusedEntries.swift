/// Knows which entries the service has refused for now, and how often, so that a few of them hold up nobody else.
///
/// One entry that is refused says little of the service, however often it is. And one that is refused again and again while
/// others are taken in between is refused for its own sake.
///
/// A pure machine, and bounded: when it is full it forgets all, and takes each of them for new.
struct RefusedEntries: Sendable {
    private struct Record: Sendable {
        var refusals = 1
        /// Of them, those since whose predecessor something else was taken.
        var besideOthers = 0
        var grantedBefore: Int
    }

    private static let greatestCount = 10_000
    /// Refused so often beside others, the entry is the cause.
    private static let conviction = 2

    private var records: [EntryKey: Record] = [:]
    /// All that the service took.
    private var granted = 0

    mutating func granted(_ count: Int) { granted += count }

    /// It was taken.
    ///
    /// - Returns: whether it was refused before.
    mutating func taken(_ key: EntryKey) -> Bool { !records.isEmpty && records.removeValue(forKey: key) != nil }

    /// It was refused.
    ///
    /// - Returns: how often before, and whether the entry itself is the cause.
    mutating func refused(_ key: EntryKey) -> (before: Int, isCause: Bool) {
        guard var record = records[key] else {
            if records.count >= Self.greatestCount { records = [:] }
            records[key] = Record(grantedBefore: granted)
            return (0, false)
        }
        let before = record.refusals
        record.refusals += 1
        if granted > record.grantedBefore { record.besideOthers += 1 }
        record.grantedBefore = granted
        records[key] = record
        return (before, record.besideOthers >= Self.conviction)
    }
}
