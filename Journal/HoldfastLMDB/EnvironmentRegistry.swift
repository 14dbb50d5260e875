import Foundation

/// The environments that this process has open, by device and inode.
///
/// liblmdb's locks belong to the process (`fcntl`): opening an environment a second time and closing it again, or only
/// opening and closing `lock.mdb`, drops the first one's locks. So environments are opened only here, and users of an
/// open one share it.
final class EnvironmentRegistry: @unchecked Sendable {  // all is touched only while `condition` is held
    static let shared = EnvironmentRegistry()

    private struct Entry {
        weak var environment: Environment?
        /// Known even while the environment is on its way out and cannot be referred to any more.
        let identity: ObjectIdentifier
    }

    private let condition = NSCondition()
    private var entries: [FileIdentity: Entry] = [:]

    /// Opens an environment that is not open with `body`, under the lock.
    ///
    /// One whose data file is gone from there belongs to its directory no more, although its users still read it: another may be
    /// made in its place, with a lock file of its own.
    func open(
        _ file: FileIdentity, path: String, body: () throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Environment {
        condition.lock()
        defer { condition.unlock() }
        if let environment = live(file), try environment.dataFileLoss() == nil {
            throw LMDBError(.openInThisProcess, "open", path: path)
        }
        let environment = try body()
        environment.leases = 1
        entries[file] = Entry(environment: environment, identity: ObjectIdentifier(environment))
        return environment
    }

    /// Adds a lease to an open environment.
    func share(_ file: FileIdentity) -> Environment? {
        condition.lock()
        defer { condition.unlock() }
        guard let environment = live(file) else { return nil }
        environment.leases += 1
        return environment
    }

    /// Takes back one lease, or all, and closes with `body` when there are none left. Does nothing after that.
    func takeBack(_ environment: Environment, all: Bool, closing body: () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        guard environment.leases > 0 else { return }
        environment.leases = all ? 0 : environment.leases - 1
        guard environment.leases == 0 else { return }
        body()
        if entries[environment.file]?.identity == ObjectIdentifier(environment) { entries[environment.file] = nil }
        condition.broadcast()
    }

    /// Waits while the last reference is gone but liblmdb has not closed yet.
    private func live(_ file: FileIdentity) -> Environment? {
        while let entry = entries[file] {
            if let environment = entry.environment { return environment }
            condition.wait()
        }
        return nil
    }
}
