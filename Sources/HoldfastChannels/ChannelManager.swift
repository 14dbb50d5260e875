public import Holdfast
public import HoldfastAPNs
internal import HoldfastHTTP2

/// Creates, reads, lists and deletes the broadcast channels of one app at Apple's management service.
///
/// Live Activities of many devices follow a channel: an app's server creates one, the app subscribes its Live Activities to
/// the id, and each broadcast to it (``Holdfast/PushNotification``) reaches all of them.
/// An app has up to 10,000 channels in each of Apple's two environments, which know nothing of each other.
///
/// ```swift
/// let manager = try ChannelManager(bundleID: "com.example.app", configuration)
/// let channel = try await manager.create(storagePolicy: .mostRecentMessage)
/// ```
///
/// Requests go one after the other over one connection, which is closed after half a minute without requests. A request
/// that could not be sent is retried a few times. A request that may have been done is not retried, and the error says so
/// (``ChannelError/Code/unknownOutcome``).
///
/// All connectors of the process share a provider token for the same key. For short-lived processes, give a
/// ``ProviderTokenStore``, because the service counts new tokens.
public final class ChannelManager: Sendable {
    /// The app that owns the channels.
    public let bundleID: String
    /// The management service.
    public let endpoint: APNsEndpoint

    private let configuration: APNsConnector.Configuration
    private let store: (any ProviderTokenStore)?
    private let turn = Turn()
    private let connection = Monitor<ManagementConnection?>(nil)
    /// The note in the store, as far as is known.
    private let stored = Monitor<[UInt8]?>(nil)

    /// A manager of one app's channels. Opens its connection with the first request.
    ///
    /// - Parameters:
    ///   - bundleID: the app, as the developer account spells it.
    ///   - configuration: credentials, trust and proxy, as for sending. Files are read now, and again for each new
    ///     connection. ``HoldfastAPNs/APNsConnector/Configuration/sendDeadline`` is the timeout of each request.
    ///   - endpoint: the management service. Default: the one of the configuration's endpoint
    ///     (``HoldfastAPNs/APNsEndpoint/channels``).
    ///   - store: keeps the provider token for the next process. Default: none.
    /// - Throws: `APNsConfigurationError` that names the missing file, or the fault.
    public init(
        bundleID: String, _ configuration: APNsConnector.Configuration, endpoint: APNsEndpoint? = nil,
        store: (any ProviderTokenStore)? = nil
    ) throws(APNsConfigurationError) {
        guard bundleID.isBundleID, bundleID.utf8.count <= NotificationValidator.maximumTopicByteCount else {
            throw APNsConfigurationError(
                "the bundle id \(bundleID.prefix(64).debugDescription) is not letters, digits, hyphens, underscores and "
                    + "periods")
        }
        guard let endpoint = endpoint ?? configuration.endpoint.channels else {
            throw APNsConfigurationError(
                "nobody knows where the channels of \(configuration.endpoint) are managed: name the endpoint for that")
        }
        self.bundleID = bundleID
        self.endpoint = endpoint
        self.store = store
        var configuration = configuration
        configuration.endpoint = endpoint
        self.configuration = configuration
        try configuration.checkNetwork()
        _ = try Credentials(configuration, generation: 1)
    }

    deinit { connection.withLock { $0 }?.close() }

    // MARK: What can be asked for

    /// Creates a channel.
    ///
    /// - Returns: its id, for the app's subscriptions and for broadcasts.
    /// - Throws: ``ChannelError``. With ``ChannelError/Code/unknownOutcome`` a channel of unknown id may have been created:
    ///   ``list()`` shows it.
    public func create(storagePolicy: MessageStoragePolicy) async throws(ChannelError) -> BroadcastChannel {
        try await perform(.create(storagePolicy)) { (response) throws(ChannelAnswerFault) in try response.channel() }
    }

    /// Reads the configuration of a channel.
    ///
    /// - Throws: ``ChannelError``; with ``ChannelError/Code/notRegistered`` there is no such channel in this environment.
    public func read(_ channel: BroadcastChannel) async throws(ChannelError) -> ChannelConfiguration {
        try await perform(.read(channel)) { (response) throws(ChannelAnswerFault) in try response.configuration() }
    }

    /// Deletes a channel. Live Activities that follow it get nothing more.
    ///
    /// - Throws: ``ChannelError``; with ``ChannelError/Code/notRegistered`` there is no such channel in this environment,
    ///   with ``ChannelError/Code/unknownOutcome`` it may be gone: ``read(_:)`` tells.
    public func delete(_ channel: BroadcastChannel) async throws(ChannelError) {
        try await perform(.delete(channel)) { _ in }
    }

    /// All channels of the app in this environment, in the order the service gives.
    public func list() async throws(ChannelError) -> [BroadcastChannel] {
        try await perform(.list) { (response) throws(ChannelAnswerFault) in try response.channels() }
    }

    /// Closes the connection, if there is one. The next request opens another.
    public func close() async {
        guard await turn.take() else { return }
        defer { turn.pass() }
        drop()
    }

    // MARK: How

    private func perform<R>(
        _ action: ChannelRequest.Action, _ read: (HTTP2Response) throws(ChannelAnswerFault) -> R
    ) async throws(ChannelError) -> R {
        let request = ChannelRequest(action, bundleID: bundleID)
        let response = try await exchange(request)
        do throws(ChannelAnswerFault) {
            return try read(response)
        } catch {
            throw ChannelError(fault: error, in: response, to: request, at: endpoint)
        }
    }

    /// - Returns: an answer that says yes.
    private func exchange(_ request: ChannelRequest) async throws(ChannelError) -> HTTP2Response {
        guard await turn.take() else { throw ChannelError(Self.givenUp, of: request, at: endpoint) }
        defer { turn.pass() }
        var attempts = ChannelAttempts(isRepeatable: !request.action.changesSomething)
        while true {
            let (ending, token) = try await attempt(request)
            switch attempts.next(after: ending) {
            case .succeed(let response):
                return response
            case .fail:
                throw ChannelError(ending, of: request, at: endpoint)
            case .again(let pause, let isTokenExpired):
                if isTokenExpired, let token { try replace(token) } else { drop() }
                do {
                    if pause > .zero { try await Task.sleep(for: pause) }
                } catch {
                    throw ChannelError(ending, of: request, at: endpoint)
                }
            }
        }
    }

    private static let givenUp = ChannelAttempts.Ending.neverSent("it was given up", isLasting: false)

    private typealias Token = (source: ProviderTokenSource, token: ProviderTokenSource.Token)

    private func attempt(_ request: ChannelRequest) async throws(ChannelError) -> (ChannelAttempts.Ending, Token?) {
        let open: ManagementConnection
        do throws(ConnectError) {
            open = try await connected()
        } catch {
            return (.neverSent(error.message, isLasting: error.kind == .configuration), nil)
        }
        let token = try await token(open.credentials)
        await keep(token)
        // Once it is sent, it may have been done.
        guard !Task.isCancelled else { return (Self.givenUp, nil) }
        let ending = await open.send(request, authorization: token?.token.authorization)
        if case .answered(let response) = ending, response.reason == "TooManyProviderTokenUpdates" {
            token?.source.holdMinting()
        }
        return (ending, token)
    }

    private func connected() async throws(ConnectError) -> ManagementConnection {
        if let open = connection.withLock({ $0 }), open.isUsable { return open }
        drop()
        let credentials: Credentials
        do throws(APNsConfigurationError) {
            // Anew each time: certificates are exchanged while a program runs.
            credentials = try Credentials(configuration, generation: 2)
        } catch {
            throw ConnectError(.configuration, error.message)
        }
        let fresh = try await ManagementConnection.open(configuration, credentials)
        connection.withLock { $0 = fresh }
        return fresh
    }

    private func drop() {
        let open = connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
        open?.close()
    }

    /// The process's token for the key; nil without a key.
    private func token(_ credentials: Credentials) async throws(ChannelError) -> Token? {
        guard let source = credentials.tokens else { return nil }
        if source.note == nil, let store {
            let notes = await store.notes(source.noteName)
            if let good = notes.first(where: { source.restore($0) }) { stored.withLock { $0 = good } }
        }
        do throws(APNsConfigurationError) {
            let token = try source.current()
            return (source, token)
        } catch {
            throw ChannelError(error)
        }
    }

    private func replace(_ expired: Token) throws(ChannelError) {
        do throws(APNsConfigurationError) {
            guard try expired.source.replace(expired.token) != nil else {
                throw APNsConfigurationError(
                    "the service calls a provider token expired that was made just now: check this machine's clock")
            }
        } catch {
            throw ChannelError(error)
        }
    }

    /// The note that the store does not have yet.
    private func keep(_ token: Token?) async {
        guard let store, let source = token?.source, let note = source.note else { return }
        let isNew = stored.withLock { stored in
            defer { stored = note }
            return stored != note
        }
        if isNew { await store.keep(note, as: source.noteName) }
    }
}
