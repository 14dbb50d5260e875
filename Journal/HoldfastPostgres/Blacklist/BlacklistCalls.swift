package import Foundation
internal import Holdfast
package import HoldfastPQ

/// How far a copy of the blacklist has come: a number of the feed, and the stamp of the commit that it ends.
package struct FeedPlace: Hashable, Sendable {
    package var number: UInt64
    /// nil where nothing was ever committed.
    package var stamp: UUID?

    package init(number: UInt64 = 0, stamp: UUID? = nil) { (self.number, self.stamp) = (number, stamp) }
}

/// The end of the feed, and what it says of a place.
package struct FeedState: Hashable, Sendable {
    package var end: FeedPlace
    /// The stamp that the feed has at the place's number; nil for none.
    package var known: UUID?
}

/// The calls by which hosts share the blacklist. Each is one round trip.
package struct BlacklistCalls: Sendable {
    private let share: PQStatement
    private let state: PQStatement
    private let read: PQStatement
    private let trim: PQStatement

    package init(_ schema: SchemaName) {
        let name = schema.quoted
        share = PQStatement(
            "SELECT number, removed FROM \(name).share_blacklist($1, $2, $3, $4, $5, $6, $7, $8)",
            preparedAs: "share_blacklist")
        state = PQStatement("SELECT last, stamp, known FROM \(name).blacklist_state($1)", preparedAs: "blacklist_state")
        read = PQStatement("SELECT * FROM \(name).read_blacklist($1, $2)", preparedAs: "read_blacklist")
        trim = PQStatement("SELECT \(name).trim_blacklist($1)")
    }

    /// Makes changes in their order, in one transaction. The same turn of a writer may be sent again.
    ///
    /// - Returns: the number of the feed up to which they are, and how many entries each change removed.
    package func share(
        _ changes: [SharedChange], writer: UUID, turn: Int64, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (number: UInt64, removed: [Int64]) {
        var columns = ShareColumns()
        for change in changes { columns.append(change) }
        var parameters = PQParameters()
        parameters.append(writer)
        parameters.append(turn)
        columns.append(to: &parameters)
        let row = try connection.run([PQStep(share, parameters)], by: deadline)[0].row(0)
        return (try row.feedNumber(0), try row.int8Array(1))
    }

    /// A page of rows behind a number, in the order of their numbers, and the state of the feed at the same instant. A page with
    /// fewer rows than the limit is the last one: who has all of them has all that the feed had at this instant.
    package func read(
        after number: UInt64, from place: FeedPlace, limit: Int, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (state: FeedState, rows: [SharedRow.Columns]) {
        var (asked, page) = (PQParameters(), PQParameters())
        asked.append(Int64(bitPattern: place.number))
        page.append(Int64(bitPattern: number))
        page.append(Int32(limit))
        let answer = try connection.run(
            [
                PQStep("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), PQStep(state, asked, reading: true),
                PQStep(read, page, reading: true), .commit,
            ], by: deadline)
        let found = try answer[1].row(0)
        let end = FeedPlace(number: try found.feedNumber(0), stamp: try found.isNull(1) ? nil : try found.uuid(1))
        let state = FeedState(end: end, known: try found.isNull(2) ? nil : try found.uuid(2))
        return (
            state,
            try answer[2].rows.map { row throws(PQError) in
                SharedRow.Columns(
                    number: try row.int8(0), recipient: try row.bytes(1), scope: try row.bytes(2),
                    since: try row.int8(3), expires: try row.int8(4),
                    entry: try row.isNull(5) ? nil : try row.bytes(5))
            }
        )
    }

    /// Deletes what was removed more than so long ago. Copies that are further behind are filled anew.
    ///
    /// - Returns: the number of deleted rows.
    @discardableResult
    package func trim(
        keeping time: Duration, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Int64 {
        var parameters = PQParameters()
        parameters.append(time.components.seconds)
        return try connection.run([PQStep(trim, parameters)], by: deadline)[0].row(0).int8(0)
    }
}

/// Changes as the arrays that `share_blacklist` takes.
private struct ShareColumns {
    private var (kinds, sinces, expiries): ([Int64], [Int64], [Int64]) = ([], [], [])
    private var (recipients, scopes, entries): ([[UInt8]], [[UInt8]], [[UInt8]]) = ([], [], [])

    mutating func append(_ change: SharedChange) {
        recipients.append(SharedRow.recipient(change.recipient))
        switch change {
        case .add(let entry):
            append(1, entry.scope, since: entry.since.milliseconds, SharedRow.expires(entry), SharedRow.entry(entry))
        case .lift(let key, let time): append(2, key.scope, since: time.milliseconds)
        case .remove(let key): append(key.scope == nil ? 3 : 2, key.scope, since: .max)
        }
    }

    private mutating func append(
        _ kind: Int64, _ scope: BlacklistScope?, since: Int64, _ expires: Int64 = 0, _ entry: [UInt8] = []
    ) {
        kinds.append(kind)
        scopes.append(scope.map(SharedRow.scope) ?? [])
        sinces.append(since)
        expiries.append(expires)
        entries.append(entry)
    }

    func append(to parameters: inout PQParameters) {
        parameters.append(kinds)
        parameters.append(recipients)
        parameters.append(scopes)
        parameters.append(sinces)
        parameters.append(expiries)
        parameters.append(entries)
    }
}

extension PQRow {
    fileprivate func feedNumber(_ column: Int) throws(PQError) -> UInt64 {
        guard let number = UInt64(exactly: try int8(column)) else {
            throw PQError(.unexpected, "column \(column + 1) of the answer is below zero")
        }
        return number
    }
}
