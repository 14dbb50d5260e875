package import Holdfast
import HoldfastLMDB

extension JournalReader {
    /// The newer notification that is to take an entry's place at its turn, if that were now; `nil` if none is.
    package func newer(than entry: JournalEntry, at now: WallTime) throws(JournalError) -> UID? {
        let notification = entry.notification
        guard notification.newestWins, let table = store.tables.newest else { return nil }
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: notification.id ?? NotificationID(high: 0, low: 0),
            expiration: notification.expiration ?? .once, acceptedAt: entry.acceptedAt, producer: "", to: &bytes)
        guard let key = NewestKey(packed: bytes.span, in: 0..<bytes.count, key: try state().facts.identityKey) else {
            return nil
        }
        let name = NewestRecord.key(key)
        let row = try read { (snapshot: borrowing Snapshot) throws(LMDBError) in
            try snapshot.get(name.span, in: table)
        }
        return row.flatMap { NewestRecord.read($0, key: name) }?.successor(of: entry.uid, at: now)
    }
}
