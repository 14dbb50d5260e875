import Holdfast
import HoldfastLMDB

/// Remembers identities, and finds repeats.
extension CommitDraft {
    /// Takes repeats out of the batch, and remembers the others that have an identity.
    ///
    /// - Returns: the repeats, ascending by index in the submission.
    mutating func remember(_ submission: Submission, _ batch: inout AppendBatch) throws(LMDBError) -> [Appended.Repeat]
    {
        try buildIndex()
        let items = submission.items
        var repeats: [Appended.Repeat] = []
        var kept: [Int] = []
        kept.reserveCapacity(items.count)
        batch.haveIdentity.reserveCapacity(items.count)
        let acceptedAt = submission.acceptedAt.milliseconds
        let isGated = transaction.recorder != nil
        try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) in
            var next = submission.identities.startIndex
            for index in items.indices {
                let named = next < submission.identities.endIndex && submission.identities[next].index == index
                if named {
                    let identity = submission.identities[next].identity
                    next += 1
                    if let (uid, outcome) = try Self.find(identity, identities, &cursor) {
                        repeats.append(Appended.Repeat(index: index, uid: UID(uid), outcome: outcome))
                        continue
                    }
                    if let uid = elsewhere[identity] {
                        repeats.append(Appended.Repeat(index: index, uid: UID(uid), outcome: nil))
                        continue
                    }
                    let uid = batch.first + UInt64(kept.count)
                    // No UID was ever greater: it is the last of the table.
                    try cursor.put(Key.uid(uid).span, appending: true, count: IdentityRecord.byteCount) { output in
                        IdentityRecord.write(identity, acceptedAt: acceptedAt, uid: uid, into: &output)
                    }
                    identities.add(identity, uid: uid)
                    if isGated {
                        claims.append(CommitClaim(high: identity.high, low: identity.low, value: uid))
                    }
                }
                kept.append(index)
                batch.haveIdentity.append(named)
            }
        }
        if kept.count < items.count { batch.keep(kept) }
        return repeats
    }

    /// Which of the inquiries are remembered, ascending by index.
    mutating func find(_ inquiries: [Identity]) throws(LMDBError) -> [Appended.Repeat] {
        guard !inquiries.isEmpty else { return [] }
        try buildIndex()
        let index = identities
        return try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) in
            var known: [Appended.Repeat] = []
            for (position, identity) in inquiries.enumerated() {
                guard let (uid, outcome) = try Self.find(identity, index, &cursor) else { continue }
                known.append(Appended.Repeat(index: position, uid: UID(uid), outcome: outcome))
            }
            return known
        }
    }

    private static func find(
        _ identity: Identity, _ index: IdentityIndex, _ cursor: inout Cursor
    ) throws(LMDBError) -> (UInt64, TerminalOutcome?)? {
        var outcome: TerminalOutcome?
        let found = try index.first(identity) { (uid) throws(LMDBError) -> Bool in
            guard try cursor.find(Key.uid(uid).span) else { return false }
            var isSame = false
            cursor.withCurrent { _, value in
                guard let record = IdentityRecord(value, uid: uid), record.identity == identity else { return }
                (isSame, outcome) = (true, record.outcome)
            }
            return isSame
        }
        return found.map { uid in (uid, outcome) }
    }

    /// Reads all that is remembered, at the first submission that has identities, so that opening need not.
    private func buildIndex() throws(LMDBError) {
        guard !identities.isBuilt else { return }
        let index = identities
        try index.build { () throws(LMDBError) in
            try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) in
                var found = try cursor.first()
                while found {
                    cursor.withCurrent { key, value in
                        let uid = key.bigEndian64(at: 0)
                        if let record = IdentityRecord(value, uid: uid) { index.fill(record.identity, uid: uid) }
                    }
                    found = try cursor.next()
                }
            }
        }
    }

    /// A rejection goes again: a repeat of it is from now on one of the new entry, and is told what becomes of that.
    ///
    /// - Returns: whether the rejection's identity was remembered.
    mutating func moveIdentity(from old: UInt64, to uid: UInt64, acceptedAt: Int64) throws(LMDBError) -> Bool {
        let index = identities
        return try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) -> Bool in
            guard try cursor.find(Key.uid(old).span) else { return false }
            var found: Identity?
            cursor.withCurrent { _, value in found = IdentityRecord(value, uid: old)?.identity }
            guard let identity = found else { return false }
            try cursor.delete()
            try cursor.put(Key.uid(uid).span, appending: true, count: IdentityRecord.byteCount) { output in
                IdentityRecord.write(identity, acceptedAt: acceptedAt, uid: uid, into: &output)
            }
            // Otherwise it is read from the table when it is needed.
            if index.isBuilt {
                index.drop(identity, uid: old)
                index.add(identity, uid: uid)
            }
            return true
        }
    }

    // MARK: How they ended

    /// Notes how an entry ended whose record says that its identity is remembered. It may have been trimmed since.
    func noteOutcome(_ outcome: TerminalOutcome, of uid: UInt64) throws(LMDBError) {
        try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) in
            try Self.noteOutcome(outcome, of: uid, &cursor)
        }
    }

    /// The same for entries that were confirmed, ascending.
    func noteConfirmed(_ uids: [UInt64]) throws(LMDBError) {
        guard !uids.isEmpty else { return }
        try transaction.withCursor(tables.identities) { (cursor: inout Cursor) throws(LMDBError) in
            for uid in uids { try Self.noteOutcome(.confirmed, of: uid, &cursor) }
        }
    }

    private static func noteOutcome(
        _ outcome: TerminalOutcome, of uid: UInt64, _ cursor: inout Cursor
    ) throws(LMDBError) {
        guard try cursor.find(Key.uid(uid).span) else { return }
        var found: IdentityRecord?
        cursor.withCurrent { _, value in found = IdentityRecord(value, uid: uid) }
        guard let old = found else { return }
        let key = Key.uid(uid)
        if case .rejected = outcome {
            let bytes = IdentityRecord(identity: old.identity, acceptedAt: old.acceptedAt, outcome: outcome).bytes(
                uid: uid)
            try cursor.put(key.span, appending: false, count: bytes.count) { output in
                output.copy(0..<bytes.count, of: bytes.span, to: 0)
            }
        } else {
            // As long as before: it is overwritten where it lies.
            try cursor.put(key.span, appending: false, count: IdentityRecord.byteCount) { output in
                IdentityRecord.write(
                    old.identity, acceptedAt: old.acceptedAt, code: OutcomeCode.code(of: outcome), uid: uid,
                    into: &output)
            }
        }
    }
}
