import CHoldfastLMDB

/// Keeps a snapshot of an environment in use from being overwritten while another reader reads its pages.
///
/// liblmdb only keeps a slot in the lock file for it: it walks no tree. While it is held, freed pages cannot be reused,
/// so each write grows the file.
package final class SnapshotPin {
    private let environment: Environment
    private var transaction: ReadTransaction?
    /// The commit that is pinned.
    package let commit: UInt64
    private let highWaterPages: Int

    /// Pins the newest commit.
    ///
    /// - Parameter path: the environment's directory. If this process has it open, that handle is shared.
    package init(_ path: String) throws(LMDBError) {
        if let shared = try Environment.share(path) {
            environment = shared
        } else {
            environment = try Environment.open(path, .readOnly, mapByteCount: nil, tables: 1)
        }
        do throws(LMDBError) {
            let transaction = try ReadTransaction(environment)
            self.transaction = transaction
            commit = UInt64(unsafe mdb_txn_id(transaction.pointer))
            highWaterPages = try environment.info().highWaterPages
        } catch {
            environment.close()
            throw error
        }
    }

    /// The bytes by which the file has grown since.
    package func growth() throws(LMDBError) -> Int {
        let info = try environment.info()
        return (info.highWaterPages - highWaterPages) * info.pageByteCount
    }

    /// Lets go. Idempotent.
    package func release() { transaction = nil }

    deinit {
        // Before the environment, which must have no transactions when it closes.
        release()
        environment.close()
    }
}
