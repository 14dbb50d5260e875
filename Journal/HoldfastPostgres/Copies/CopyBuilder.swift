internal import Foundation
package import HoldfastLMDB
package import HoldfastPQ

/// Brings the working copy of a journal to the end of its log, for the journal's owner, before a gate is made.
///
/// It may be begun again after any failure: what it has read stays, unless a checkpoint was being read.
package struct CopyBuilder: Sendable {
    package struct Limits: Sendable {
        package var mapByteCount: Int
        package var tables: Int
        /// Rows that are read at once. The memory is a few times that, or the longest commit.
        package var pageByteCount: Int
        /// How long a call waits for its answer.
        package var answer: Duration

        package init(
            mapByteCount: Int, tables: Int = 64, pageByteCount: Int = 4 << 20, answer: Duration = .seconds(60)
        ) {
            self.mapByteCount = mapByteCount
            self.tables = tables
            self.pageByteCount = pageByteCount
            self.answer = answer
        }
    }

    private let calls: LogCalls
    private let epoch: Int64
    private let limits: Limits

    package init(_ schema: SchemaName, journal: Int32, epoch: Int64, _ limits: Limits) {
        calls = LogCalls(schema, journal: journal)
        self.epoch = epoch
        self.limits = limits
    }

    /// - Parameters:
    ///   - directory: of the environment, which nobody has open. It exists.
    ///   - connection: of the service's role.
    /// - Returns: the last commit of the log, which the copy has.
    package func build(in directory: String, over connection: PQConnection) throws(CopyError) -> WorkingCopy.Place {
        let copy = try existing(directory)
        let log: LogState
        do throws(PQError) {
            log = try calls.fencedState(sumOf: copy?.number ?? 0, epoch: epoch, connection, by: .now + limits.answer)
        } catch {
            throw CopyError(error)
        }
        let plan = try CopyPlan.decide(copy: copy, log: log)
        if plan == .anew { try Self.clear(directory) }
        guard plan != .upToDate, log.last > 0 else { return copy ?? .unfinished }
        let environment = try open(directory)
        defer { environment.close() }
        let filling = CopyFilling(calls, limits, environment, connection)
        var place = copy ?? .unfinished
        if plan == .anew { place = try filling.loadCheckpoint(log) }
        place = try filling.follow(log, after: place)
        try Self.complete(environment)
        return place
    }

    /// Makes the file as long as its meta page says: pages at its end that were used and freed in one transaction were never
    /// written, and a file without them counts as damaged.
    private static func complete(_ environment: Environment) throws(CopyError) {
        do throws(LMDBError) {
            let info = try environment.info()
            try environment.allocateData(from: 0, to: info.highWaterPages * info.pageByteCount)
        } catch {
            throw .copy(error)
        }
    }

    /// Makes the copy what the journal is, where the database was rolled back to before it.
    ///
    /// - Returns: the copy's last commit.
    package func restore(from directory: String, over connection: PQConnection) throws(CopyError) -> WorkingCopy.Place {
        let environment = try open(directory)
        defer { environment.close() }
        do throws(Checkpointer.Failure) {
            _ = try Checkpointer(calls.schema, journal: calls.journal, epoch: epoch, answer: limits.answer).make(
                of: environment, restoring: true, over: connection)
        } catch {
            switch error {
            case .database(let error): throw CopyError(error)
            case .copy(let error): throw .copy(error)
            case .logInUse:
                throw .database(PQError(.unreachable, "somebody reads the log of the journal, such as pg_dump"))
            case .copyIsBehind(let copy, let log): throw .rolledBack(copy: copy, log: log)
            }
        }
        do throws(LMDBError) { return try WorkingCopy.place(in: environment) ?? .unfinished } catch {
            throw .copy(error)
        }
    }

    private func existing(_ directory: String) throws(CopyError) -> WorkingCopy.Place? {
        guard FileManager.default.fileExists(atPath: directory + "/data.mdb") else { return nil }
        let environment = try open(directory)
        defer { environment.close() }
        do throws(LMDBError) {
            if let place = try WorkingCopy.place(in: environment) { return place }
            let pool = ReaderPool(environment)
            defer { pool.close() }
            let names = try pool.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.tableNames(limit: 2)
            }
            if names?.contains(where: { $0 != WorkingCopy.tableName }) != true { return nil }
        } catch {
            throw .copy(error)
        }
        throw .notACopy(directory)
    }

    private func open(_ directory: String) throws(CopyError) -> Environment {
        do throws(LMDBError) {
            return try Environment.open(
                directory, .readWriteUnsynced, mapByteCount: limits.mapByteCount, tables: limits.tables)
        } catch {
            throw .copy(error)
        }
    }

    private static func clear(_ directory: String) throws(CopyError) {
        do throws(LMDBError) { try Environment.remove(from: directory) } catch { throw .copy(error) }
    }
}
