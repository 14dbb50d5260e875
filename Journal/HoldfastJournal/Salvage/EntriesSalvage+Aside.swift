import Holdfast
import HoldfastLMDB

/// Entries that silence has confirmed: each stays aside in the new journal, so that its outcome is told when its time is over.
extension EntriesSalvage {
    /// Takes what lies aside on sound pages, and makes the order anew. What cannot be read is dropped, and if it is found
    /// elsewhere in the file it is restored as any entry is: better twice than never.
    func collectAside() throws(JournalError) {
        // A journal that no newer Holdfast has opened has no such table, which is no hole.
        guard hasTable("aside") else { return }
        try walk(["aside"]) { (table, key, value) throws(JournalError) in
            guard key.count == 12, case .success(let row) = AsideRecord.read(value.span) else { return drop(table) }
            let entry = AsideRecord.entry(value.span)
            let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
            guard case .success = EntryRecord.read(entry.span, lane: lane, uid: uid) else { return drop(table) }
            let (fitted, head) = figures.fitted(entry, flagged: false)
            let since = WallTime(milliseconds: row.since)
            let bytes = AsideRecord.bytes(since: since, keepsOutcome: row.keepsOutcome, record: fitted.span)
            try keep(table, Key.entry(head.lane, uid).span.array, bytes)
            try target.put("asideOrder", Key.aside(since: row.since, head.lane, uid).span.array, [])
            try scratch.put("aside", Key.uid(uid).span.array, [])
            figures.countAside(head)
            try noteNewest(fitted, uid: uid)
            greatestUID = max(greatestUID, uid)
        }
    }
}
