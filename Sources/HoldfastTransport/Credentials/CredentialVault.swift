internal import Dispatch
package import Holdfast
package import NIOCore

/// The content of a connector's credential files at one time: its own certificate, and the trusted ones.
package protocol CredentialContents: Sendable {
    /// Whether the service would see no difference.
    func isSame(as other: Self) -> Bool
    /// Its description for operators.
    var text: String { get }
    /// The certificate's name, and its last valid second; nil without one.
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

/// Holds a connector's credentials, and replaces them without a restart: reads changed files, checks them, and swaps
/// all of them in one step. Connections opened with the old ones are drained; new ones use the new.
///
/// Files are checked and read on a queue of its own, never on an event loop.
package final class CredentialVault<Contents: CredentialContents>: Sendable {
    /// - Parameter generation: which reading it is, from 1.
    package typealias Reading =
        @Sendable (_ generation: Int) throws(TransportConfigurationError) -> Contents

    /// The credentials read at one time; each reading is another generation.
    package struct Current: Sendable {
        /// The number of the reading, counted from 1.
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

    /// The interval between two looks at a certificate's dates, where no files are watched.
    private static var slowLook: Duration { .seconds(60) }

    private let files: [String]
    private let reloadEvery: Duration?
    private let clock: EngineClock
    private let read: Reading
    private let state: Monitor<State>
    private let queue = DispatchQueue(label: "holdfast.credentials", qos: .utility)

    /// Reads the credentials for the first time.
    ///
    /// - Parameters:
    ///   - files: the paths of all files read.
    ///   - reloadEvery: nil reads again only on request.
    /// - Throws: the errors of `read`.
    package init(
        files: [String], reloadEvery: Duration?, clock: EngineClock, read: @escaping Reading
    ) throws(TransportConfigurationError) {
        self.files = files
        self.reloadEvery = reloadEvery
        self.clock = clock
        self.read = read
        // Before they are read: a change in between is then seen.
        let stamps = files.map { FileStamp($0) }
        let current = Current(generation: 1, contents: try read(1))
        state = Monitor(State(current: current, watch: CredentialWatch(used: stamps)))
    }

    /// The credentials for new connections.
    package var current: Current { state.withLock { $0.current } }

    /// The engines that the connector serves.
    package var hosts: [ConnectorHost] { state.withLock(\.hosts) }

    /// Sets a function that is called on the queue with new credentials, before anybody is told. One at a time.
    package func onSwap(_ body: @escaping @Sendable (Contents) -> Void) { state.withLock { $0.onSwap = body } }

    /// Sets a function that is called on the queue with the credentials in use, at each look.
    package func onLook(_ body: @escaping @Sendable (Contents) -> Void) { state.withLock { $0.onLook = body } }

    /// Does something where files are read and notes are written, and not here.
    package func perform(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    // MARK: Calls of the connector

    /// Begins to watch the files: an engine serves the connector from now on.
    ///
    /// - Returns: the credentials in use.
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

    /// Reads everything again, and uses it from now on.
    ///
    /// - Throws: the fault; then the credentials in use stay in use.
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

    /// Reads changed files, and reports what is due. One at a time: on the queue.
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

    /// Reads the files and swaps. On the queue.
    ///
    /// - Parameter isAsked: whether it was requested and no file has changed: lanes that have stopped for credentials
    ///   then run again even with the same ones.
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

    /// Swaps the credentials. On the queue.
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

    private func report(_ kind: ConnectorNotice.Kind, _ message: String, isUrgent: Bool = false) {
        let notice = ConnectorNotice(kind, message, isUrgent: isUrgent)
        for host in hosts { host.report(notice) }
    }

    /// Warns when the certificate's end is near. On the queue.
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
            "\(what): get a new one, and put it in its place; it is taken up without a restart",
            isUrgent: stage >= .day)
    }
}

extension CredentialContents {
    /// The reason why no connection can be made with them at this time; nil when there is none.
    package func problem(at now: WallTime) -> String? {
        guard let (named, notAfter) = certificateEnd, notAfter < now.seconds else { return nil }
        return
            "\(named) expired on \(ClientCertificate.text(notAfter)): get a new one, and put it in its place; it is taken "
            + "up without a restart"
    }
}
