import Holdfast
import HoldfastLMDB

/// The rows of unconfirmed entries.
extension EntriesCheck {
    func entry(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 12 else { return badKey(key, "entries", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
        let head = self.record(value, lane: lane, uid: uid, "entries", page)
        tally(lane, uid, "entries", page) { tally in
            tally.entries += 1
            if head != nil { tally.lastSoundUID = max(tally.lastSoundUID, uid) }
            if head?.flags.contains(.possiblySent) == true { tally.flaggedEntries += 1 }
        }
    }

    func deferred(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 20 else { return badKey(key, "deferred", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 12))
        let head = self.record(value, lane: lane, uid: uid, "deferred", page)
        deferredSums.rows &+= XXH64.hash(key.span)
        tally(lane, uid, "deferred", page) { tally in
            tally.deferred += 1
            if WallTime(milliseconds: key.span.dueTime).isScheduled { tally.scheduled += 1 }
            if WallTime(milliseconds: key.span.dueTime).isPlaceOfTag { tally.held += 1 }
            if head != nil { tally.lastSoundUID = max(tally.lastSoundUID, uid) }
            if head?.flags.contains(.possiblySent) == true { tally.flaggedDeferred += 1 }
        }
    }

    func tally(
        _ lane: UInt32, _ uid: UInt64, _ table: String, _ page: UInt64, _ body: (inout LaneTally) -> Void
    ) {
        let index = Int(lane) - 1
        guard lanes.indices.contains(index) else {
            return check.add(
                "there is no lane of its number", table: table, page: page, lane: lane, uid: uid,
                means: "The notification is never handed out. Salvage puts it into a lane.")
        }
        body(&laneTallies[index])
        laneTallies[index].lastUID = max(laneTallies[index].lastUID, uid)
    }

    /// Checks an unconfirmed entry's record.
    private func record(
        _ value: Span<UInt8>, lane: UInt32, uid: UInt64, _ table: String, _ page: UInt64
    ) -> EntryRecord.Head? {
        do throws(EntryRecord.Fault) {
            let record = try EntryRecord.read(value, lane: lane, uid: uid).get()
            if !check.isOpening { _ = try record.fields(in: value.array) }
            let index = Int(record.head.producer) - 1
            guard producers.indices.contains(index) else {
                throw .damaged("there is no Producer number \(record.head.producer)")
            }
            producerTallies[index] += 1
            return record.head
        } catch {
            hasUnreadRecords = true
            check.add(
                "the record: \(error.words)", table: table, page: page, lane: lane, uid: uid,
                means:
                    "The notification cannot be sent; the engine moves it to the quarantine when it comes to it. Salvage "
                    + "looks for an undamaged copy.")
            return nil
        }
    }

    func deferredIndex(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 12, value.count == 8 else { return badKey(key, "deferredIndex", page) }
        let (lane, uid) = (key.span.bigEndian32(at: 0), key.span.bigEndian64(at: 4))
        let due = Int64(bitPattern: value.load(UInt64.self, at: 0))
        let name = Key.deferred(lane, due: due, uid)
        if check.isOpening {
            deferredSums.index &+= XXH64.hash(name.span)
            return
        }
        guard !check.torn.contains("deferred"), let table = tables.first(where: { $0.name == "deferred" }) else {
            return
        }
        let wanted = name.span.array
        var cursor = TreeCursor(walk.file, table.record)
        if !cursor.seek(atLeast: wanted) || cursor.key != wanted {
            check.add(
                "the index names a deferred entry that is not there", table: "deferredIndex", page: page, lane: lane,
                uid: uid, means: "A late answer for the entry may be lost. Salvage makes the index anew.")
        }
    }

}
