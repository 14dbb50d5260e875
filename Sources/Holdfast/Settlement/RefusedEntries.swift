/// Knows which entries and which devices the service has refused for now, and how often, so that a few of them hold up nobody
/// else.
///
/// One entry that is refused says little of the service, however often it is. And one that is refused again and again while
/// others are taken in between is refused for its own sake. So is every entry for a device of which that is true: nothing
/// for it is taken, while others are.
///
/// A pure machine, and bounded: when it is full it forgets all, and takes each of them for new.
struct RefusedEntries: Sendable {
    private struct Record: Sendable {
        var refusals = 1
        /// The number of these refusals before which, since the previous one, another entry was taken.
        var besideOthers = 0
        var grantedBefore: Int
    }

    private struct Records<Key: Hashable & Sendable>: Sendable {
        var records: [Key: Record] = [:]

        mutating func refused(_ key: Key, granted: Int) -> (before: Int, isCause: Bool) {
            guard var record = records[key] else {
                if records.count >= RefusedEntries.greatestCount { records = [:] }
                records[key] = Record(grantedBefore: granted)
                return (0, false)
            }
            let before = record.refusals
            record.refusals += 1
            if granted > record.grantedBefore { record.besideOthers += 1 }
            record.grantedBefore = granted
            records[key] = record
            return (before, record.besideOthers >= RefusedEntries.conviction)
        }
    }

    private static let greatestCount = 10_000
    /// Refused so often beside others, the entry is the cause.
    private static let conviction = 2
    /// The mark of an entry without a device to blame.
    static let nobody: UInt64 = 0

    private var entries = Records<EntryKey>()
    private var recipients = Records<UInt64>()
    /// All that the service took.
    private var granted = 0

    /// Whether nothing was refused that was not taken since.
    var isEmpty: Bool { entries.records.isEmpty && recipients.records.isEmpty }

    mutating func granted(_ count: Int) { granted += count }

    /// It was taken.
    ///
    /// - Returns: whether it was refused before.
    mutating func taken(_ key: EntryKey, recipient: UInt64) -> Bool {
        if !recipients.records.isEmpty { recipients.records[recipient] = nil }
        return !entries.records.isEmpty && entries.records.removeValue(forKey: key) != nil
    }

    /// It was refused.
    ///
    /// - Returns: how often before, and whether the entry itself, or its device, is the cause.
    mutating func refused(_ key: EntryKey, recipient: UInt64) -> (before: Int, isCause: Bool) {
        let (before, isCause) = entries.refused(key, granted: granted)
        guard recipient != Self.nobody else { return (before, isCause) }
        let isRecipient = recipients.refused(recipient, granted: granted).isCause
        return (before, isCause || isRecipient)
    }

    /// The mark of a device: its token, folded.
    static func recipient(_ address: Range<Int>, in bytes: [UInt8]) -> UInt64 {
        let mark = Fingerprint.ofWords(address, in: bytes)
        return mark == nobody ? 1 : mark
    }
}
