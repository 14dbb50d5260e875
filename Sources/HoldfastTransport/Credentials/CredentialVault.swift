internal import Dispatch
package import Holdfast
package import NIOCore

/// What is read from files at one time, to appear with at a service and to know it by.
package protocol CredentialContents: Sendable {
    /// Whether the service would see no difference.
    func isSame(as other: Self) -> Bool
    /// For operators: what they are.
    var text: String { get }
    /// What the certificate is called, and its last good second; nil without one.
    var certificateEnd: (named: String, notAfter: Int64)? { get }
}

/// A connection that was opened with credentials.
package protocol RetirableConnection: AnyObject, Sendable {
    var loop: any EventLoop { get }

    /// The credentials that it was opened with have been replaced: it is drained.
    ///
    /// - Returns: succeeds once nothing new goes out on it.
    func retire() -> EventLoopFuture<Void>
}

/// Holds a connector's credentials, and exchanges them for others without a restart: reads what has changed, checks it, and
/// swaps all of it in one step. Connections that were opened with the old ones are drained; new ones use the new.
///
/// Files are looked at and read on a queue of its own, never on an event loop.
package final class CredentialVault<Contents: CredentialContents>: Sendable {
    /// - Parameter generation: which reading it is, from 1.
    package typealias Reading =
        @Sendable (_ generation: Int) throws(TransportConfigurationError) -> Contents

    /// What was read at one time; what comes later is another generation.
    package struct Current: Sendable {
        /// From 1.
        package let generation: Int
        package let contents: Contents
    }

    private struct WeakConnection: Sendable {
        weak let connection: (any RetirableConnection)?
    }

    private struct State: Sendable {
        var current: Current
        var connections: [WeakConnection] = []
        var hosts: [ConnectorHost] = []
        var watch: CredentialWatch
        var expiry = ExpiryNotices()
        var isWatching = false
        var onSwap: @Sendable (Contents) -> Void = { _ in }
        var onLook: @Sendable (Contents) -> Void = { _ in }
    }

    /// From one look at a certificate's dates to the next, where no files are looked at.
    private static var slowLook: Duration { .seconds(60) }

    private let files: [String]
    private let reloadEvery: Duration?
    private let clock: EngineClock
    private let read: Reading
    private let state: Monitor<State>
    private let queue = DispatchQueue(label: "holdfast.credentials", qos: .utility)

    /// Reads for the first time.
    ///
    /// - Parameters:
    ///   - files: the paths of all that is read.
    ///   - reloadEvery: nil only reads again when it is asked to.
    /// - Throws: what `read` throws.
    package init(
        files: [String], reloadEvery: Duration?, clock: EngineClock, read: @escaping Reading
    ) throws(TransportConfigurationError) {
        self.files = files
        self.reloadEvery = reloadEvery
        self.clock = clock
        self.read = read
        // Before they are read: what changes in between is then seen as changed.
        let stamps = files.map { FileStamp($0) }
        let current = Current(generation: 1, contents: try read(1))
        state = Monitor(State(current: current, watch: CredentialWatch(used: stamps)))
    }

    /// What to connect with now.
    package var current: Current { state.withLock { $0.current } }

    /// The engines that the connector serves.
    package var hosts: [ConnectorHost] { state.withLock(\.hosts) }

    /// Called on the queue with what is taken up, before anybody is told. One at a time.
    package func onSwap(_ body: @escaping @Sendable (Contents) -> Void) { state.withLock { $0.onSwap = body } }

    /// Called on the queue with what is in use, at each look.
    package func onLook(_ body: @escaping @Sendable (Contents) -> Void) { state.withLock { $0.onLook = body } }

    /// Does something where files are read and notes are written, and not here.
    package func perform(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    // MARK: What the connector is told

    /// An engine serves the connector from now on: files are watched.
    ///
    /// - Returns: what is in use.
    @discardableResult
    package func begin(_ host: ConnectorHost) -> Contents {
        let (current, isFirst) = state.withLock { state in
            state.hosts.removeAll(where: \.hasEnded)
            state.hosts.append(host)
            defer { state.isWatching = true }
            return (state.current, !state.isWatching)
        }
        queue.async { [weak self] in self?.warn() }
        if isFirst { scheduleLook() }
        return current.contents
    }

    /// A connection that was opened with credentials of this generation. It is drained when they are replaced: at once, when
    /// they have been meanwhile.
    package func adopt(_ connection: any RetirableConnection, generation: Int) {
        let isCurrent = state.withLock { state in
            state.connections.removeAll { $0.connection == nil }
            guard generation == state.current.generation else { return false }
            state.connections.append(WeakConnection(connection: connection))
            return true
        }
        if !isCurrent { _ = connection.retire() }
    }

    /// Reads everything anew, and uses it from now on.
    ///
    /// - Throws: what is wrong with it; then what was in use stays in use.
    package func reload() async throws(TransportConfigurationError) {
        let result: Result<Void, TransportConfigurationError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.load(self.stamps(), isAsked: true)) }
        }
        try result.get()
    }

    // MARK: Looking

    private func scheduleLook() {
        let interval = reloadEvery ?? Self.slowLook
        let milliseconds = Int(clamping: max(interval.wholeMilliseconds, 1))
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            self.look()
            self.scheduleLook()
        }
    }

    /// Reads what has changed, and tells what is to be told. One at a time: on the queue.
    package func look() {
        // Without an engine nothing is sent.
        guard state.withLock({ !$0.hosts.allSatisfy(\.hasEnded) }) else { return }
        if reloadEvery != nil, !files.isEmpty {
            let stamps = stamps()
            if state.withLock({ $0.watch.wantsLoad(stamps) }) { _ = load(stamps, isAsked: false) }
        }
        let (contents, onLook) = state.withLock { ($0.current.contents, $0.onLook) }
        onLook(contents)
        warn()
    }

    private func stamps() -> [FileStamp] { files.map { FileStamp($0) } }

    /// On the queue.
    ///
    /// - Parameter isAsked: somebody's word, and no change of a file: lanes that have stopped for credentials run again also
    ///   when these are the same.
    private func load(_ stamps: [FileStamp], isAsked: Bool) -> Result<Void, TransportConfigurationError> {
        let old = current
        let fresh: Contents
        do throws(TransportConfigurationError) {
            fresh = try read(old.generation + 1)
        } catch {
            if state.withLock({ $0.watch.failed(stamps, isAsked: isAsked) }) {
                report(
                    .credentialsNotReloaded,
                    "the new credentials can't be used, and the old ones stay in use: \(error.message)")
            }
            return .failure(error)
        }
        let wasBroken = state.withLock { $0.watch.loaded(stamps) }
        if !fresh.isSame(as: old.contents) {
            swap(to: Current(generation: old.generation + 1, contents: fresh))
        } else {
            if wasBroken { report(.credentialsReloaded, "the files of the credentials are good again, and as before") }
            if isAsked { tellHosts() }
        }
        return .success(())
    }

    /// On the queue.
    private func swap(to fresh: Current) {
        let (old, onSwap) = state.withLock { state in
            defer { state.connections = [] }
            state.current = fresh
            return (state.connections.compactMap(\.connection), state.onSwap)
        }
        onSwap(fresh.contents)
        report(.credentialsReloaded, "new credentials are in use: \(fresh.contents.text)")
        // Lanes run again only when no old connection takes anything: its answer would stop them again.
        guard let loop = old.first?.loop else { return tellHosts() }
        EventLoopFuture.andAllComplete(old.map { $0.retire() }, on: loop).whenComplete { _ in
            self.queue.async { self.tellHosts() }
        }
    }

    private func tellHosts() {
        for host in hosts { host.credentialsChanged() }
    }

    private func report(_ kind: ConnectorNotice.Kind, _ message: String) {
        let notice = ConnectorNotice(kind, message)
        for host in hosts { host.report(notice) }
    }

    /// On the queue: says when the certificate's end is near.
    private func warn() {
        let now = clock.wall()
        let (stage, end) = state.withLock { state in
            let end = state.current.contents.certificateEnd
            return (state.expiry.look(notAfter: end?.notAfter, now: now), end)
        }
        guard let stage, let (named, notAfter) = end else { return }
        let date = ClientCertificate.text(notAfter)
        let what =
            switch stage {
            case .over: "\(named) expired on \(date), and no new connection can be made with it"
            case .day: "\(named) expires within a day, on \(date)"
            case .month, .week: "\(named) expires in \((notAfter - now.seconds) / 86_400) days, on \(date)"
            }
        report(
            .credentialsExpire,
            "\(what): get a new one, and put it in its place; it is taken up without a restart")
    }
}

extension CredentialContents {
    /// Why no connection can be made with them at this time; nil when it can.
    package func problem(at now: WallTime) -> String? {
        guard let (named, notAfter) = certificateEnd, notAfter < now.seconds else { return nil }
        return
            "\(named) expired on \(ClientCertificate.text(notAfter)): get a new one, and put it in its place; it is taken "
            + "up without a restart"
    }
}
