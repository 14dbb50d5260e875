internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastFCM
internal import HoldfastLegacyAPNs
internal import HoldfastOpenSSL
internal import HoldfastRequests
internal import HoldfastService
internal import HoldfastTransport
internal import NIOCore
internal import NIOPosix

/// Goes the way to a push service: its name, each of its addresses, TLS, and one request that reaches no device.
struct RouteLook: Sendable {
    let settings: RouteSettings
    /// Whether a request may be sent.
    let isProbing: Bool
    /// Where provider tokens of the service's process are found, and where a new one is left.
    let notes: any ProbeNotes
    /// Whether the configuration's words about credentials are without a mistake; with one, the route is examined without any.
    var knowsCredentials = true
    /// Whether the service is a gateway: then another gateway, or itself, is told from a push service.
    var isForGateway = false

    /// The notes of provider tokens: the service counts new ones, so each is used by all.
    protocol ProbeNotes: Sendable {
        func notes(_ name: String) async -> [[UInt8]]
        func keep(_ note: [UInt8], as name: String) async
    }

    func look() async -> RouteFacts {
        guard knowsCredentials else { return await withoutCredentials() }
        var facts = RouteFacts(name: settings.name, endpoint: settings.endpoint)
        facts.proxy = settings.network.proxy.map { "\($0)" }
        facts.environment = settings.environment?.rawValue
        facts.checksName = settings.network.verifiesHostName
        switch settings.protocol {
        case .http2: await http2(&facts)
        case .binary: await binary(&facts)
        case .fcm: await firebase(&facts)
        }
        return facts
    }

    private func withoutCredentials() async -> RouteFacts {
        var bare = settings
        (bare.signingKey, bare.certificate) = (nil, nil)
        if var firebase = bare.firebase {
            (firebase.serviceAccount, firebase.tokenCommand) = (nil, ["true"])
            bare.firebase = firebase
        }
        var facts = await RouteLook(settings: bare, isProbing: false, notes: notes).look()
        facts.credentials = nil
        facts.notAsked = "nothing was sent: the configuration of its credentials has a mistake, which is told above"
        return facts
    }

    // MARK: HTTP/2

    private func http2(_ facts: inout RouteFacts) async {
        var probe: APNsProbe
        let endpoint: APNsEndpoint
        do {
            endpoint = try APNsEndpoint(settings.endpoint)
            (facts.isApples, facts.isCleartext, facts.endpoint) = (
                endpoint.isApples, endpoint.isCleartext, endpoint.description
            )
            probe = try APNsProbe(try settings.http2Configuration())
        } catch {
            facts.credentials = .unusable("\((error as? UnusableRoute)?.message ?? "\(error)")")
            return
        }
        if isForGateway { probe.via = RelayMark.value }
        facts.credentials = credentials(probe.certificate)
        async let addresses = AddressLook.look(
            settings.network.proxy?.host ?? endpoint.host, settings.network.proxy?.port ?? endpoint.port)
        let topic = topic(&facts)
        let hadNote = await restore(probe.tokens)
        let report = await probe.run(topic: topic)
        if !hadNote, let tokens = probe.tokens, let note = tokens.note { await notes.keep(note, as: tokens.noteName) }
        facts.addresses = await addresses
        facts.take(report, topic: topic)
    }

    /// - Returns: whether there was a good token already.
    private func restore(_ tokens: (any KeptTokens)?) async -> Bool {
        guard let tokens, tokens.note == nil else { return tokens != nil }
        return await notes.notes(tokens.noteName).contains { tokens.restore($0) }
    }

    /// The topic to ask with; nil asks nothing.
    private func topic(_ facts: inout RouteFacts) -> String? {
        guard isProbing else {
            facts.notAsked = "nothing was sent, as --no-probe says"
            return nil
        }
        if let topic = settings.defaultTopic ?? settings.topics?.min() { return topic }
        if case .certificate(let topics, _, _)? = facts.credentials, let topic = topics.first { return topic }
        facts.notAsked = "the route names no topic, so nothing was sent: whether credentials are taken is not known"
        return nil
    }

    private func credentials(_ certificate: CertificateFacts?) -> RouteFacts.Credentials {
        if let key = settings.signingKey { return .key(id: key.keyID, team: key.teamID) }
        guard let certificate else { return .none }
        let environment: String? =
            switch (certificate.isForProduction, certificate.isForSandbox) {
            case (true, true): "production and sandbox"
            case (true, false): "production"
            case (false, true): "sandbox"
            case (false, false): nil
            }
        let topics = certificate.listedTopics + (certificate.userID.map { [$0] } ?? [])
        return .certificate(
            topics: topics.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }, environment: environment,
            notAfter: certificate.notAfter)
    }

    // MARK: Firebase Cloud Messaging

    private func firebase(_ facts: inout RouteFacts) async {
        var probe: FCMProbe
        let endpoint: FCMEndpoint
        do {
            endpoint = try FCMEndpoint(settings.endpoint)
            (facts.isCleartext, facts.endpoint) = (endpoint.isCleartext, endpoint.description)
            let configuration = try settings.firebaseConfiguration()
            facts.credentials = .firebase(configuration.authorization.words)
            probe = try FCMProbe(configuration)
        } catch {
            facts.credentials = .unusable((error as? UnusableRoute)?.message ?? "\(error)")
            return
        }
        if isForGateway { probe.via = RelayMark.value }
        let proxy = settings.network.proxy
        let given = settings.firebase?.addresses ?? []
        async let addresses =
            given.isEmpty
            ? AddressLook.look(proxy?.host ?? endpoint.host, proxy?.port ?? endpoint.port)
            : AddressLook.look(given, endpoint.port)
        guard isProbing else {
            facts.notAsked = "nothing was sent, as --no-probe says"
            facts.take(await probe.run(asks: false), topic: nil)
            facts.addresses = await addresses
            return
        }
        let hadNote = await restore(probe.tokens)
        facts.tokenFailure = await probe.fetchToken()
        let hasToken = facts.tokenFailure == nil
        if !hadNote, hasToken, let tokens = probe.tokens, let note = tokens.note {
            await notes.keep(note, as: tokens.noteName)
        }
        let report = await probe.run(asks: hasToken)
        if !hasToken { facts.notAsked = "nothing was sent: there is no access token" }
        facts.take(report, topic: hasToken ? settings.firebase?.project : nil)
        facts.isFirebase = true
        facts.addresses = await addresses
    }

    // MARK: The binary protocol

    private func binary(_ facts: inout RouteFacts) async {
        let dialer: Dialer
        do {
            let endpoint = try LegacyAPNsEndpoint(settings.endpoint)
            (facts.isCleartext, facts.endpoint) = (endpoint.isCleartext, endpoint.description)
            let certificate = try settings.certificate?.identity.load()
            facts.credentials = credentials(certificate?.facts)
            let tls = endpoint.isCleartext ? nil : try ClientTLS(trust: settings.trusted, certificate: certificate)
            dialer = Dialer(
                endpoint: endpoint.description, host: endpoint.host, port: endpoint.port, tls: tls,
                trust: settings.trusted, deadline: DoctorLimits.connect)
        } catch {
            facts.credentials = .unusable((error as? TransportConfigurationError)?.message ?? "\(error)")
            return
        }
        async let addresses = AddressLook.look(dialer.host, dialer.port)
        facts.take(await dialer.examine())
        facts.notAsked = "the binary protocol answers errors alone: no request proves anything without harm"
        facts.addresses = await addresses
    }
}

/// Time limits of an examination.
enum DoctorLimits {
    static let connect = Duration.seconds(10)
    static let address = Duration.seconds(5)
}

extension RouteFacts {
    mutating func take(_ report: ProbeReport, topic: String?) {
        (chain, connectTime, failure) = (ChainFacts(report.chain), report.connectTime, report.failure)
        (answer, answerTime, self.topic) = (report.answer, report.answerTime, topic)
        if let service = report.serviceTime, let own = report.ownTime { clockOffset = service.since(own) }
    }

    mutating func take(_ examination: Dialer.Examination) {
        (chain, connectTime, failure) = (ChainFacts(examination.chain), examination.time, examination.failure)
    }
}

/// Looks a name up, and connects to each of its addresses at once.
enum AddressLook {
    static func look(_ host: String, _ port: Int) async -> RouteFacts.Addresses {
        let loop = Dialer.nextLoop()
        let answer = loop.makePromise(of: [SocketAddress].self)
        let timer = loop.scheduleTask(in: .seconds(5)) {
            answer.fail(UnknownHost(host: host, why: "the resolver did not answer within 5 s"))
        }
        defer { timer.cancel() }
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            answer.succeed([address])
        } else {
            SystemResolver().addresses(of: host, port: port, on: loop).cascade(to: answer)
        }
        do {
            let addresses = try await answer.futureResult.get()
            return .found(await connect(addresses))
        } catch let error as UnknownHost {
            return .unknown("\(error.host) has no address: \(error.why)")
        } catch {
            return .unknown("\(host) can't be resolved: \(error)")
        }
    }

    /// Connects to each of these IP addresses at once.
    static func look(_ addresses: [String], _ port: Int) async -> RouteFacts.Addresses {
        .found(await connect(addresses.compactMap { try? SocketAddress(ipAddress: $0, port: port) }))
    }

    private static func connect(_ addresses: [SocketAddress]) async -> [RouteFacts.Address] {
        await withTaskGroup(of: (Int, RouteFacts.Address).self) { group in
            for (index, address) in addresses.enumerated() { group.addTask { (index, await connect(address)) } }
            var found: [(Int, RouteFacts.Address)] = []
            for await item in group { found.append(item) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func connect(_ address: SocketAddress) async -> RouteFacts.Address {
        let text = HostAndPort.text(host: address.ipAddress ?? "\(address)", port: address.port ?? 0)
        let start = ContinuousClock.now
        do {
            let channel = try await ClientBootstrap(group: Dialer.nextLoop())
                .connectTimeout(.nanoseconds(DoctorLimits.address.components.seconds * 1_000_000_000))
                .connect(to: address).get()
            let time = ContinuousClock.now - start
            channel.close(promise: nil)
            return RouteFacts.Address(text: text, time: time)
        } catch {
            return RouteFacts.Address(text: text, failure: Dialer.cause(error))
        }
    }
}
