internal import Dispatch
internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastTransport
internal import NIOCore

/// Holds a connector's credentials, and exchanges them for others without a restart: reads what has changed, checks it, and
/// swaps all of it in one step. Connections that were opened with the old ones are drained; new ones use the new.
///
/// Files are looked at and read on a queue of its own, never on an event loop.
final class CredentialVault: Sendable {
    private struct WeakConnection: Sendable {
        weak let connection: APNsConnection?
        let generation: Int
    }

    private struct State: Sendable {
        var current: Credentials
        var connections: [WeakConnection] = []
        var hosts: [ConnectorHost] = []
        var watch: CredentialWatch
        var expiry = ExpiryNotices()
        var isWatching = false
    }

    /// From one look at a certificate's dates to the next, where no files are looked at.
    private static let slowLook = Duration.seconds(60)

    private let configuration: APNsConnector.Configuration
    private let files: [String]
    private let state: Monitor<State>
    private let queue = DispatchQueue(label: "holdfast.apns.credentials", qos: .utility)

    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    init(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        self.configuration = configuration
        files = configuration.credentialFiles
        // Before they are read: what changes in between is then seen as changed.
        let stamps = files.map { FileStamp($0) }
        let current = try Credentials(configuration, generation: 1)
        state = Monitor(State(current: current, watch: CredentialWatch(used: stamps)))
    }

    /// What to connect with now.
    var current: Credentials { state.withLock(\.current) }

    // MARK: What the connector is told

    /// An engine serves the connector from now on: its journal may know a token, and files are watched.
    func begin(_ host: ConnectorHost) {
        let (current, isFirst) = state.withLock { state in
            state.hosts.removeAll(where: \.hasEnded)
            state.hosts.append(host)
            defer { state.isWatching = true }
            return (state.current, !state.isWatching)
        }
        if let tokens = current.tokens {
            if let note = host.note(tokens.noteName) { tokens.restore(note) }
            tokens.add(self)
            // Another engine's, or another route's: this journal has to know it as well.
            if let note = tokens.note { host.setNote(tokens.noteName, to: note) }
        }
        queue.async { [weak self] in self?.warn() }
        if isFirst { scheduleLook() }
    }

    /// A connection that was opened with credentials of this generation. It is drained when they are replaced: at once, when
    /// they have been meanwhile.
    func adopt(_ connection: APNsConnection, generation: Int) {
        let isCurrent = state.withLock { state in
            state.connections.removeAll { $0.connection == nil }
            guard generation == state.current.generation else { return false }
            state.connections.append(WeakConnection(connection: connection, generation: generation))
            return true
        }
        if !isCurrent { _ = connection.retire() }
    }

    /// Reads everything anew, and uses it from now on.
    ///
    /// - Throws: what is wrong with it; then what was in use stays in use.
    func reload() async throws(APNsConfigurationError) {
        let result: Result<Void, APNsConfigurationError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.load(self.stamps(), isAsked: true)) }
        }
        try result.get()
    }

    // MARK: Looking

    private func scheduleLook() {
        let interval = configuration.reloadEvery ?? Self.slowLook
        let milliseconds = Int(clamping: max(interval.wholeMilliseconds, 1))
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            guard let self else { return }
            self.look()
            self.scheduleLook()
        }
    }

    /// Reads what has changed, and tells what is to be told. One at a time: on the queue.
    func look() {
        // Without an engine nothing is sent.
        guard state.withLock({ !$0.hosts.allSatisfy(\.hasEnded) }) else { return }
        if configuration.reloadEvery != nil, !files.isEmpty {
            let stamps = stamps()
            if state.withLock({ $0.watch.wantsLoad(stamps) }) { _ = load(stamps, isAsked: false) }
        }
        warn()
    }

    private func stamps() -> [FileStamp] { files.map { FileStamp($0) } }

    /// On the queue.
    ///
    /// - Parameter isAsked: somebody's word, and no change of a file: lanes that have stopped for credentials run again also
    ///   when these are the same.
    private func load(_ stamps: [FileStamp], isAsked: Bool) -> Result<Void, APNsConfigurationError> {
        let old = current
        let fresh: Credentials
        do throws(APNsConfigurationError) {
            fresh = try Credentials(configuration, generation: old.generation + 1)
        } catch {
            if state.withLock({ $0.watch.failed(stamps, isAsked: isAsked) }) {
                report(
                    .credentialsNotReloaded,
                    "the new credentials can't be used, and the old ones stay in use: \(error.message)")
            }
            return .failure(error)
        }
        let wasBroken = state.withLock { $0.watch.loaded(stamps) }
        if !fresh.isSame(as: old) {
            swap(to: fresh)
        } else {
            if wasBroken { report(.credentialsReloaded, "the files of the credentials are good again, and as before") }
            if isAsked { tellHosts() }
        }
        return .success(())
    }

    /// On the queue.
    private func swap(to fresh: Credentials) {
        let old = state.withLock { state in
            defer { state.connections = [] }
            state.current = fresh
            return state.connections.compactMap(\.connection)
        }
        if let tokens = fresh.tokens { tokens.add(self) }
        report(.credentialsReloaded, "new credentials are in use: \(fresh.text(configuration))")
        // Lanes run again only when no old connection takes anything: its answer would stop them again.
        guard let loop = old.first?.loop else { return tellHosts() }
        EventLoopFuture.andAllComplete(old.map { $0.retire() }, on: loop).whenComplete { _ in
            self.queue.async { self.tellHosts() }
        }
    }

    private func tellHosts() {
        for host in state.withLock(\.hosts) { host.credentialsChanged() }
    }

    private func report(_ kind: ConnectorNotice.Kind, _ message: String) {
        let notice = ConnectorNotice(kind, message)
        for host in state.withLock(\.hosts) { host.report(notice) }
    }

    /// On the queue: says when the certificate's end is near.
    private func warn() {
        let now = configuration.clock.wall()
        let (stage, notAfter) = state.withLock { state in
            let notAfter = state.current.certificate?.facts.notAfter
            return (state.expiry.look(notAfter: notAfter, now: now), notAfter)
        }
        guard let stage, let notAfter, let named = configuration.clientCertificate?.named else { return }
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

extension CredentialVault: ProviderTokenSource.Keeper {
    func keep(_ source: ProviderTokenSource) {
        // It may be an event loop that minted.
        queue.async { [weak self] in
            guard let self, let note = source.note else { return }
            let (hosts, current) = self.state.withLock { ($0.hosts, $0.current) }
            guard source === current.tokens else { return }
            for host in hosts { host.setNote(source.noteName, to: note) }
        }
    }
}
