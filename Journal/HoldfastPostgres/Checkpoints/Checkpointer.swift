internal import Foundation
package import HoldfastLMDB
package import HoldfastPQ

/// Writes what is in a working copy to the log, so that the commits before are needed no more. Commits go on meanwhile.
///
/// A checkpoint that fails, or whose host dies, leaves the last one and all commits behind that. The next one begins anew.
package struct Checkpointer: Sendable {
    package enum Failure: Error, Sendable {
        case database(PQError)
        case copy(LMDBError)
        /// Somebody reads the part of the log that is to be truncated, such as pg_dump: to be tried later.
        case logInUse
        /// The copy did not get the commits that the log has.
        case copyIsBehind(UInt64, log: UInt64)
    }

    package struct Made: Hashable, Sendable {
        /// The commit whose rows it has.
        package let number: UInt64
        package let chunks: Int
        package let byteCount: Int
        /// Whether the part of the log before it is truncated. If not, ``Checkpointer/trim(over:)`` is to be tried later.
        package let isTrimmed: Bool
    }

    private let calls: CheckpointCalls
    private let chunkByteCount: Int
    private let answer: Duration

    /// - Parameters:
    ///   - chunkByteCount: about the size of a chunk, which is in memory as a whole.
    ///   - answer: how long a call waits for its answer, and the copy for its last commit.
    package init(
        _ schema: SchemaName, journal: Int32, epoch: Int64, chunkByteCount: Int = 1 << 20,
        answer: Duration = .seconds(60)
    ) {
        calls = CheckpointCalls(schema, journal: journal, epoch: epoch)
        self.chunkByteCount = chunkByteCount
        self.answer = answer
    }

    private var deadline: ContinuousClock.Instant { .now + answer }

    /// - Returns: whether nothing needless is left.
    package func trim(over connection: PQConnection) throws(Failure) -> Bool {
        try translated { () throws(PQError) in try calls.trim(connection, by: deadline) }
    }

    /// - Parameters:
    ///   - environment: that of the journal, which may be committing.
    ///   - connection: not the gate's.
    ///   - isRestoring: whether the copy has commits that the log lacks, which go on behind it. Nobody commits meanwhile.
    package func make(
        of environment: Environment, restoring isRestoring: Bool = false, over connection: PQConnection
    ) throws(Failure) -> Made {
        guard try trim(over: connection) else { throw .logInUse }
        let base = try translated { () throws(PQError) in try calls.begin(connection, by: deadline) }
        let (place, chunks, byteCount) = try put(environment, having: base, connection)
        try translated { () throws(PQError) in
            try calls.end(
                place.number, sum: place.sum, chunks: chunks, restoring: isRestoring, connection, by: deadline)
        }
        let isTrimmed = try trim(over: connection)
        return Made(number: place.number, chunks: chunks, byteCount: byteCount, isTrimmed: isTrimmed)
    }

    /// Puts the rows of a snapshot that has the given commit: it may be in the log already, and not in the copy yet.
    private func put(
        _ environment: Environment, having base: UInt64, _ connection: PQConnection
    ) throws(Failure) -> (WorkingCopy.Place, chunks: Int, byteCount: Int) {
        let end = deadline
        let pool = ReaderPool(environment)
        defer { pool.close() }
        while true {
            let attempt: Attempt
            do throws(LMDBError) {
                let tables = try Tables(environment, pool)
                attempt =
                    try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                        try put(snapshot, tables, having: base, connection)
                    } ?? .behind(0)
            } catch {
                throw .copy(error)
            }
            switch attempt {
            case .done(let place, let chunks, let byteCount): return (place, chunks, byteCount)
            case .failed(let error): throw .database(error)
            case .otherTables: continue
            case .behind(let number):
                guard .now < end else { throw .copyIsBehind(number, log: base) }
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }

    private enum Attempt {
        case done(WorkingCopy.Place, chunks: Int, byteCount: Int)
        case failed(PQError)
        case otherTables
        case behind(UInt64)
    }

    private func put(
        _ snapshot: borrowing Snapshot, _ tables: Tables, having base: UInt64, _ connection: PQConnection
    ) throws(LMDBError) -> Attempt {
        guard try tables.isCurrent(in: snapshot) else { return .otherTables }
        var place = WorkingCopy.Place.unfinished
        if let table = tables.copy, let found = try WorkingCopy.place(in: snapshot, table) { place = found }
        guard place.number >= base else { return .behind(place.number) }
        var chunks = SnapshotChunks(tables.rows, byteLimit: chunkByteCount)
        var (count, byteCount) = (0, 0)
        while let effects = try chunks.next(snapshot) {
            do throws(PQError) {
                try calls.put(count, LogParts.split(effects), connection, by: deadline)
            } catch {
                return .failed(error)
            }
            count += 1
            byteCount += effects.count
        }
        return .done(place, chunks: count, byteCount: byteCount)
    }

    private func translated<R>(_ body: () throws(PQError) -> R) throws(Failure) -> R {
        do throws(PQError) { return try body() } catch { throw .database(error) }
    }
}

/// The tables of an environment, opened before a snapshot is: none can be in it.
private struct Tables {
    private let names: [String]
    let rows: [(name: String, table: Table)]
    /// Where the copy has its number.
    let copy: Table?

    init(_ environment: Environment, _ pool: ReaderPool) throws(LMDBError) {
        names =
            try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.tableNames(limit: 100)
            } ?? []
        let tables = try ReaderPool.openTables(names, in: environment) ?? []
        let pairs = zip(names, tables).map { (name: $0, table: $1) }
        // As they are stored: what leaves this host is sealed as its file is.
        rows = pairs.filter { $0.name != WorkingCopy.tableName }.map { ($0.name, $0.table.asStored) }
        copy = pairs.first { $0.name == WorkingCopy.tableName }?.table
    }

    func isCurrent(in snapshot: borrowing Snapshot) throws(LMDBError) -> Bool {
        try snapshot.tableNames(limit: 100) == names
    }
}
