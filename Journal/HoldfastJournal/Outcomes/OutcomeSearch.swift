import Holdfast
import HoldfastLMDB

/// Looks for outcomes, the newest first, a segment of the log at a time.
///
/// A segment with an index is asked for the blocks that can have what is looked for; of another every block is read.
struct OutcomeSearch {
    private let pattern: OutcomePattern?
    private let hash: OutcomeHash
    private let hashes: [[UInt64]]
    private let producers: [String]
    private let limit: Int
    private var bytesLeft: Int
    /// The greatest number that was not looked at yet; 0 when nothing is left.
    private var next: UInt64
    private(set) var found: [Outcome] = []
    /// Blocks that cannot be read, with the last number that was wanted of each; their ends are not known yet.
    private var passed: [(first: UInt64, wanted: UInt64)] = []
    /// The outcomes that cannot be read.
    private(set) var damage = OutcomeDamage()
    private let newest: UInt64
    private var unreadable = 0

    /// - Parameters:
    ///   - key: of the journal's identities.
    ///   - producers: the names, Producer 1 first.
    ///   - newest: the newest outcome of the log; later ones are not looked at.
    init(
        _ query: OutcomeQuery, before: OutcomeCursor?, limit: Int, mostBytes: Int, key: IdentityKey,
        producers: [String],
        newest: UInt64 = .max
    ) {
        pattern = OutcomePattern(query, producers: producers)
        hash = OutcomeHash(key)
        hashes = pattern?.hashes(hash) ?? []
        self.producers = producers
        self.limit = limit
        bytesLeft = max(1, mostBytes)
        self.newest = newest
        next = min(newest, before.map { $0.rawValue == 0 ? 0 : $0.rawValue - 1 } ?? .max)
        if pattern == nil || limit <= 0 { next = 0 }
    }

    /// Whether nothing is left to look at, or enough was found or looked at.
    var isOver: Bool { next == 0 || found.count >= limit || bytesLeft <= 0 }

    /// - Parameter deleted: the log's last outcome that is not there any more.
    func page(deleted: UInt64) -> OutcomePage {
        OutcomePage(
            outcomes: found, end: next <= deleted ? .start : OutcomeCursor(next == .max ? next : next + 1),
            unreadable: unreadable)
    }

    /// Looks at the next segment, or the rest of it.
    mutating func look(in snapshot: borrowing Snapshot, _ tables: OutcomeTables) throws(LMDBError) {
        guard let pattern, !isOver else { return }
        try lookForMatches(pattern, in: snapshot, tables)
        try measureDamage(in: snapshot, tables)
    }

    private mutating func lookForMatches(
        _ pattern: OutcomePattern, in snapshot: borrowing Snapshot, _ tables: OutcomeTables
    ) throws(LMDBError) {
        guard let place = try Self.block(with: next, in: snapshot, tables) else {
            next = 0
            return
        }
        // Between the blocks may be a gap, where the log was damaged.
        next = min(next, place.last)
        let segment = OutcomeBlock.segment(of: place.first)
        let low = OutcomeBlock.first(of: segment)
        switch try candidates(in: segment, pattern, snapshot, tables) {
        case .nowhere: next = low - 1
        case .blocks(let places):
            for place in places.reversed() {
                let first = low + UInt64(place)
                guard first <= next else { continue }
                var wasRead = false
                _ = try snapshot.get(Key.uid(first).span, in: tables.log) { bytes in
                    wasRead = take(bytes, first, pattern)
                }
                if wasRead, isOver { return }
            }
            next = low - 1
        case .anywhere:
            try readAll(from: low, pattern, snapshot, tables)
        }
    }

    private mutating func readAll(
        from low: UInt64, _ pattern: OutcomePattern, _ snapshot: borrowing Snapshot, _ tables: OutcomeTables
    ) throws(LMDBError) {
        var search = self
        try snapshot.withCursor(tables.log) { (cursor: inout Cursor) throws(LMDBError) in
            var hasRow = try Self.seek(search.next, &cursor)
            while hasRow, !search.isOver {
                var first: UInt64 = 0
                cursor.withCurrent { key, bytes in
                    first = key.bigEndian64(at: 0)
                    if first >= low { _ = search.take(bytes, first, pattern) }
                }
                if first < low { break }
                hasRow = try cursor.previous()
            }
            if !search.isOver { search.next = hasRow ? min(search.next, low - 1) : 0 }
        }
        self = search
    }

    /// Takes the outcomes of a block that match, and notes that it was looked at.
    ///
    /// - Returns: whether it could be read.
    private mutating func take(_ bytes: Span<UInt8>, _ first: UInt64, _ pattern: OutcomePattern) -> Bool {
        bytesLeft -= bytes.count
        guard case .success(let header) = OutcomeBlockHeader.read(bytes, key: first) else {
            passed.append((first, next))
            next = min(next, first - 1)
            return false
        }
        guard pattern.mayMatch(header) else {
            next = first - 1
            return true
        }
        var scanner = OutcomeScanner(header, bytes)
        var rows: [(number: UInt64, row: OutcomeRow)] = []
        while true {
            let number = scanner.number
            guard number <= next, let row = scanner.next(bytes) else {
                passOver(number, through: min(next, header.last))
                break
            }
            if pattern.matches(row, bytes) { rows.append((number, row)) }
        }
        for (number, row) in rows.reversed() {
            if found.count == limit { return true }
            next = number - 1
            if let outcome = row.outcome(number, bytes, producers: producers) {
                found.append(outcome)
            } else {
                passOver(number, through: number)
            }
        }
        if found.count < limit || rows.isEmpty { next = first - 1 }
        return true
    }

    // MARK: Damage

    /// Counts outcomes that cannot be looked at; none if `last` lies before `first`.
    private mutating func passOver(_ first: UInt64, through last: UInt64) {
        guard first <= last else { return }
        unreadable += Int(clamping: last - first + 1)
        damage.add(first, through: last)
    }

    /// Counts the outcomes of blocks that cannot be read: each ends before the next begins.
    private mutating func measureDamage(in snapshot: borrowing Snapshot, _ tables: OutcomeTables) throws(LMDBError) {
        for (first, wanted) in passed {
            let last = try snapshot.withCursor(tables.log) { (cursor: inout Cursor) throws(LMDBError) -> UInt64 in
                guard try cursor.seek(atLeast: Key.uid(first + 1).span) else { return max(first, newest) }
                var next: UInt64 = 0
                cursor.withKey { key in next = key.bigEndian64(at: 0) }
                return next - 1
            }
            unreadable += Int(clamping: min(last, wanted) - first + 1)
            damage.add(first, through: last)
        }
        passed = []
    }

    // MARK: The index

    private func candidates(
        in segment: UInt64, _ pattern: OutcomePattern, _ snapshot: borrowing Snapshot, _ tables: OutcomeTables
    ) throws(LMDBError) -> OutcomeBucket.Answer {
        guard let summary = try SegmentSummary.find(segment, snapshot, tables), summary.check == hash.check else {
            return .anywhere
        }
        guard pattern.mayMatch(summary) else { return .nowhere }
        var answer = OutcomeBucket.Answer.anywhere
        for alternatives in hashes {
            var either = OutcomeBucket.Answer.nowhere
            for hash in alternatives {
                let key = Key.outcomeIndex(segment, OutcomeBucket.place(of: hash, of: summary.buckets))
                var one = OutcomeBucket.Answer.anywhere
                _ = try snapshot.get(key.span, in: tables.index) { bytes in
                    one = OutcomeBucket.look(for: hash, in: bytes, key: key.span)
                }
                either = either.or(one)
            }
            answer = answer.and(either)
            if answer == .nowhere { break }
        }
        return answer
    }

    // MARK: Places

    /// Goes to the block that has outcome `number`, or the last before it.
    private static func seek(_ number: UInt64, _ cursor: inout Cursor) throws(LMDBError) -> Bool {
        guard number < .max, try cursor.seek(atLeast: Key.uid(number + 1).span) else { return try cursor.last() }
        return try cursor.previous()
    }

    /// The key of that block, and the last number that it can have.
    private static func block(
        with number: UInt64, in snapshot: borrowing Snapshot, _ tables: OutcomeTables
    ) throws(LMDBError) -> (first: UInt64, last: UInt64)? {
        try snapshot.withCursor(tables.log) { (cursor: inout Cursor) throws(LMDBError) in
            guard try Self.seek(number, &cursor) else { return nil }
            var first: UInt64 = 0
            var last: UInt64 = .max
            cursor.withCurrent { key, bytes in
                first = key.bigEndian64(at: 0)
                if case .success(let header) = OutcomeBlockHeader.read(bytes, key: first) { last = header.last }
            }
            guard first > 0 else { return nil }
            return (first, min(last, OutcomeBlock.first(of: OutcomeBlock.segment(of: first) &+ 1) &- 1))
        }
    }
}

extension SegmentSummary {
    /// The summary of a segment; nil if it has none that can be read.
    static func find(
        _ segment: UInt64, _ transaction: borrowing some Transaction & ~Copyable, _ tables: OutcomeTables
    ) throws(LMDBError) -> SegmentSummary? {
        var summary: SegmentSummary?
        _ = try transaction.get(Key.outcomeIndex(segment, place).span, in: tables.index) { bytes in
            do throws(EntryRecord.Fault) { summary = try read(bytes, segment: segment) } catch {}
        }
        return summary
    }
}

extension OutcomeBucket.Answer {
    /// Of one key or another.
    func or(_ other: Self) -> Self {
        switch (self, other) {
        case (.nowhere, _): other
        case (_, .nowhere): self
        case (.anywhere, _), (_, .anywhere): .anywhere
        case (.blocks(let some), .blocks(let more)): .blocks(Set(some + more).sorted())
        }
    }

    /// Of one key and another.
    func and(_ other: Self) -> Self {
        switch (self, other) {
        case (.nowhere, _), (_, .nowhere): return .nowhere
        case (.anywhere, _): return other
        case (_, .anywhere): return self
        case (.blocks(let some), .blocks(let more)):
            let both = Set(more)
            let common = some.filter { both.contains($0) }
            return common.isEmpty ? .nowhere : .blocks(common)
        }
    }
}
