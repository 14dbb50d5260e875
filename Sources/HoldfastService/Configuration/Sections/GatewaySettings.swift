package import Holdfast
package import HoldfastGateway

/// The listeners for senders, and the limits that hold for all of them.
package struct GatewaySettings: Equatable, Sendable {
    /// The names of the listeners, in the order of their sections.
    package static let names = ["http2", "binary", "feedback"]

    /// One listener.
    package struct Listener: Equatable, Sendable {
        package var listen: ListenAddress
        /// `nil` for cleartext.
        package var tls: ServerTLS?
        package var limits: ListenerLimits
        /// `nil` for the topic of each client's certificate, and for HTTP/2, where each request has its topic.
        package var topic: String?
        /// `nil` for any number.
        package var rate: RateLimit?
    }

    package var http2: Listener?
    package var binary: Listener?
    package var feedback: Listener?
    /// Whether clients on this machine have to show credentials to the HTTP/2 listener, too.
    package var requiresCredentials: Bool
    /// The environments that host names of the HTTP/2 listener stand for.
    package var hosts: [String: PushEnvironment]
    /// The same of the binary listener.
    package var binaryHosts: [String: PushEnvironment]
    /// The environment of what comes to the binary listener.
    package var binaryEnvironment: PushEnvironment?
    /// The register of service accounts; `nil` where none may send.
    package var serviceAccounts: String?
    package var streams: Int
    package var memory: Int
    /// `nil` where requests do not wait for the push service's answer.
    package var answerWait: Duration?
    package var waiting: Int
    package var uncommitted: Int
    /// Whether the binary listener says errors about what the push service rejects.
    package var tellsErrors: Bool
    package var errorWait: Duration
    package var errorMemory: Duration
    package var errorCount: Int
    package var roomLimit: Duration
    package var unstoredLifetime: Duration
    package var drainLimit: Duration

    /// The configured listeners, by name.
    package var listeners: [(name: String, listener: Listener)] {
        [("http2", http2), ("binary", binary), ("feedback", feedback)].compactMap { name, listener in
            listener.map { (name, $0) }
        }
    }

    /// The environments of a listener's host names.
    private static func hosts(_ listener: String, _ values: ConfigValues) -> [String: PushEnvironment] {
        var hosts: [String: PushEnvironment] = [:]
        for environment in PushEnvironment.allCases {
            for name in values.texts("\(listener).hosts.\(environment.rawValue)") ?? [] { hosts[name] = environment }
        }
        return hosts
    }

    /// - Parameter clients: who of those with a certificate may submit; nil for all of them.
    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues, clients: [ClientSubject]? = nil) {
        http2 = Listener("http2", values, clients)
        binary = Listener("binary", values, clients)
        feedback = Listener("feedback", values, clients)
        requiresCredentials = values.text("http2.credentials") == "everybody"
        hosts = Self.hosts("http2", values)
        binaryHosts = Self.hosts("binary", values)
        binaryEnvironment = values.text("binary.environment").flatMap(PushEnvironment.init)
        serviceAccounts = values.text("http2.service-accounts")
        streams = values.count("http2.streams") ?? 1000
        memory = values.count("http2.memory") ?? 256 << 20
        answerWait = values.duration("http2.answer.wait")
        waiting = values.count("http2.answer.waiting") ?? 100_000
        uncommitted = values.count("binary.uncommitted") ?? 1000
        tellsErrors = values.flag("binary.errors") ?? false
        errorWait = values.duration("binary.errors-wait") ?? .seconds(10)
        errorMemory = values.duration("binary.errors-time") ?? .seconds(120)
        errorCount = values.count("binary.errors-limit") ?? 100_000
        roomLimit = values.duration("binary.room-limit") ?? .seconds(30)
        unstoredLifetime = values.duration("unstored-lifetime") ?? .seconds(3600)
        drainLimit = values.duration("drain-limit") ?? .seconds(10)
    }

    /// The gateway's part of the configuration.
    ///
    /// - Parameters:
    ///   - routes: whose signing keys senders may sign with, too.
    ///   - addresses: by name, instead of those that are configured: where a port was the system's to choose, and is to stay.
    package func configuration(routes: [RouteSettings], at addresses: [String: ListenAddress] = [:])
        -> GatewayConfiguration
    {
        var gateway = GatewayConfiguration()
        gateway.drainLimit = drainLimit
        gateway.submitters = routes.compactMap { route in
            route.signingKey.map { key in
                var submitter = SubmitterKey(key.source, keyID: key.keyID, teamID: key.teamID, topics: route.topics)
                submitter.environment = route.environment
                submitter.reloadEvery = route.reloadEvery > .zero ? route.reloadEvery : nil
                return submitter
            }
        }
        if let http2 {
            var ingress = HTTP2IngressConfiguration(listen: addresses["http2"] ?? http2.listen, tls: http2.tls)
            (ingress.limits, ingress.streams, ingress.rate) = (http2.limits, streams, http2.rate)
            (ingress.memory, ingress.unstoredLifetime) = (memory, unstoredLifetime)
            ingress.requiresCredentials = requiresCredentials
            ingress.hosts = hosts
            ingress.serviceAccounts = serviceAccounts.map { .file($0) }
            (ingress.answerWait, ingress.waiting) = (answerWait, waiting)
            gateway.http2 = ingress
        }
        if let binary {
            var ingress = BinaryIngressConfiguration(
                listen: addresses["binary"] ?? binary.listen, tls: binary.tls, topic: binary.topic)
            (ingress.limits, ingress.uncommitted, ingress.rate) = (binary.limits, uncommitted, binary.rate)
            (ingress.roomLimit, ingress.unstoredLifetime) = (roomLimit, unstoredLifetime)
            (ingress.environment, ingress.hosts) = (binaryEnvironment, binaryHosts)
            (ingress.tellsErrors, ingress.errorWait) = (tellsErrors, errorWait)
            (ingress.errorMemory, ingress.errorCount) = (errorMemory, errorCount)
            gateway.binary = ingress
        }
        if let feedback {
            var ingress = FeedbackIngressConfiguration(
                listen: addresses["feedback"] ?? feedback.listen, tls: feedback.tls, topic: feedback.topic)
            ingress.limits = feedback.limits
            gateway.feedback = ingress
        }
        return gateway
    }
}

extension GatewaySettings.Listener {
    /// `nil` if none is configured.
    fileprivate init?(_ name: String, _ values: ConfigValues, _ subjects: [ClientSubject]?) {
        if let listen = values.text("\(name).listen").flatMap({ GatewaySettings.address($0) }) {
            self.listen = listen
        } else if values.isGroupGiven(name) {
            // That its address is wrong or missing was said: this one stands for it while its files are looked at.
            listen = ListenAddress(host: "127.0.0.1", port: 0)
        } else {
            return nil
        }
        if let file = values.text("\(name).certificate") {
            let identity = RouteSettings.Certificate(
                file: file, key: values.text("\(name).key"), passphraseFile: values.text("\(name).passphrase-file"))
            let clients = values.text("\(name).clients")
            var tls = ServerTLS(identity: identity.identity, clientAuthorities: clients.map { .file($0) })
            // A request of HTTP/2 may show a token instead; the older protocols have nothing else.
            tls.requiresClientCertificate = clients != nil && name != "http2"
            tls.clientRevocations = values.text("\(name).clients-revoked").map { .file($0) }
            tls.clientSubjects = clients == nil ? nil : subjects
            self.tls = tls
        }
        limits = ListenerLimits()
        limits.connections = values.count("\(name).connections") ?? limits.connections
        limits.connectionsPerAddress = values.count("\(name).connections-per-address")
        limits.firstRequest = values.duration("first-request-limit") ?? limits.firstRequest
        limits.handshake = values.duration("handshake-limit") ?? limits.handshake
        limits.idle = values.duration("idle-limit") ?? limits.idle
        limits.write = values.duration("write-limit") ?? limits.write
        if name != "http2" { topic = values.text("\(name).topic") }
        if name != "feedback", let perSecond = values.share("\(name).rate.per-second") {
            rate = RateLimit(perSecond: perSecond, burst: values.count("\(name).rate.burst"))
        }
    }
}
