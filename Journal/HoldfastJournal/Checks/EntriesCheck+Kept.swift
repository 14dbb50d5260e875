import Holdfast
import HoldfastLMDB

/// The rows that are kept beside the unconfirmed entries: of what has ended, of what cannot be read, of what is remembered.
extension EntriesCheck {
    func rejection(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "rejections", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            _ = try Rejection(value.array, uid: uid, producers: [], lanes: [])
            let head = try RejectionRecord.head(value)
            guard lanes.indices.contains(Int(head.lane) - 1) else {
                throw .damaged("there is no lane number \(head.lane)")
            }
            guard producers.indices.contains(Int(head.producer) - 1) else {
                throw .damaged("there is no Producer number \(head.producer)")
            }
        } catch {
            check.add(
                "the rejection: \(error.words)", table: "rejections", page: page, uid: uid,
                means: "It cannot be listed or retried. No unconfirmed notification is affected.")
        }
    }

    func outcome(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "outcomes", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            _ = try OutcomeRecord.read(value, uid: uid, producers: [])
        } catch {
            check.add(
                "the outcome: \(error.words)", table: "outcomes", page: page, uid: uid,
                means: "The application will not hear how this notification ended.")
        }
    }

    /// Checks a row of the quarantine. The entry is no damage any more, but its row must be whole.
    func quarantined(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "quarantine", page) }
        let uid = key.span.bigEndian64(at: 0)
        do throws(EntryRecord.Fault) {
            let row = try QuarantineRecord(value, uid: uid)
            tally(row.lane, uid, "quarantine", page) { _ in }
            check.remark(
                "There are entries in quarantine, whose records cannot be read: `holdfast journal quarantine list` lists them."
            )
        } catch {
            check.add(
                "the quarantined entry: \(error.words)", table: "quarantine", page: page, uid: uid,
                means: "It cannot be brought back. No other notification is affected.")
        }
    }

    /// Checks a row of the entries of which the newest wins.
    func newest(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        guard key.count == NewestRecord.keyByteCount else { return badKey(key, "newest", page) }
        if NewestRecord.read(value, key: key) == nil {
            check.add(
                "the row of the newest is damaged", table: "newest", page: page,
                means: "A notification may be sent although a newer one was to take its place.")
        }
    }

    func identity(_ key: [UInt8], _ value: Span<UInt8>, _ page: UInt64) {
        guard key.count == 8 else { return badKey(key, "identities", page) }
        let uid = key.span.bigEndian64(at: 0)
        if IdentityRecord(value, uid: uid) == nil || OutcomeCode.isUnknown(value[13]) {
            check.add(
                "the remembered identity is damaged", table: "identities", page: page, uid: uid,
                means: "A repeat of this notification would be accepted once more.")
        }
    }

    func note(_ key: [UInt8], _ value: [UInt8], _ page: UInt64) {
        do throws(EntryRecord.Fault) {
            _ = try NoteRecord.value(value, name: key)
            if !NoteRecord.isBound(value) {
                check.remark(
                    "There are notes of a format whose names have no checksum; they get one when they are next written."
                )
            }
        } catch {
            check.add(
                "the note \(String(decoding: key, as: UTF8.self).debugDescription): \(error.words)", table: "notes",
                page: page,
                means: "What it remembered (a route, how far a file was taken) is lost. No notification is affected.")
        }
    }
}
