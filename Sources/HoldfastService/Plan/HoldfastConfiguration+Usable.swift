internal import Holdfast
internal import HoldfastGateway
internal import HoldfastRequests
internal import HoldfastTransport
internal import HoldfastWebhooks

extension HoldfastConfiguration {
    /// The mistakes in files that routes, listeners and webhooks name, found by reading them: no key, no certificate, a wrong
    /// passphrase; and contradictions between sections. Nothing that follows from a mistake that is known.
    package func unusable() -> [ConfigProblem] {
        let routeProblems = zip(routes, values.filter { $0.section.name == RouteSettings.section.name }).flatMap {
            unusable($0, $1)
        }
        let webhookProblems = zip(webhooks, values.filter { $0.section.name == WebhookSettings.section.name }).flatMap {
            unusable($0, $1)
        }
        let others = routeProblems + webhookProblems + unusableCollector()
        guard let values = values.first(where: { $0.section.name == GatewaySettings.section.name }) else {
            return others
        }
        return others + unusableToken()
            + gateway.listeners.flatMap { unusable($0.name, $0.listener, values) } + uselessClients()
            + sharedAddresses(values) + unservedEnvironments(values) + withoutOutcomes(values)
    }

    /// Hosts and listeners of an environment that no route serves.
    private func unservedEnvironments(_ values: ConfigValues) -> [ConfigProblem] {
        guard !routes.isEmpty, isSound(RouteSettings.section.name) else { return [] }
        let served = Set(routes.filter { $0.service == .apns }.map(\.environment))
        return PushEnvironment.allCases.flatMap { environment -> [ConfigProblem] in
            guard !served.contains(nil), !served.contains(environment) else { return [] }
            let keys =
                (gateway.hosts.values.contains(environment) ? ["http2.hosts.\(environment.rawValue)"] : [])
                + (gateway.binaryHosts.values.contains(environment) ? ["binary.hosts.\(environment.rawValue)"] : [])
                + (gateway.binaryEnvironment == environment ? ["binary.environment"] : [])
            return keys.map { values.problem($0, "no route serves the environment \(environment.rawValue)") }
        }
    }

    /// What tells senders of outcomes, where none are kept.
    private func withoutOutcomes(_ values: ConfigValues) -> [ConfigProblem] {
        guard !engine.logsOutcomes else { return [] }
        let why = "needs outcomes, and `journal.history` is off: turn it on, or leave this out"
        return [
            gateway.answerWait == nil ? nil : values.problem("http2.answer.wait", why),
            gateway.tellsErrors ? values.problem("binary.errors", why) : nil,
        ].compactMap(\.self)
    }

    /// Listeners for which another one leaves no address.
    private func sharedAddresses(_ values: ConfigValues) -> [ConfigProblem] {
        var places = gateway.listeners.map { (values, "\($0.name).listen", $0.listener.listen) }
        if let listen = admin.listen,
            let values = self.values.first(where: { $0.section.name == AdminSettings.section.name })
        {
            places.append((values, "listen", listen))
        }
        return places.enumerated().compactMap { index, place in
            let (values, key, address) = place
            guard let other = places[..<index].first(where: { $0.2.excludes(address) }) else { return nil }
            return values.problem(key, "can't be listened on beside \(other.0.path).\(other.1), which is \(other.2)")
        }
    }

    /// Trusted certificates for a collector that are none.
    private func unusableCollector() -> [ConfigProblem] {
        guard let target = traces.target, isSound(TraceSettings.section.name),
            let values = self.values.first(where: { $0.section.name == TraceSettings.section.name })
        else { return [] }
        do throws(TransportConfigurationError) {
            try target.check()
            return []
        } catch {
            return [values.problem("trust", error.message)]
        }
    }

    /// A file of the operators' token that has none.
    private func unusableToken() -> [ConfigProblem] {
        guard let file = admin.tokenFile,
            let values = self.values.first(where: { $0.section.name == AdminSettings.section.name })
        else { return [] }
        do throws(OperatorToken.Fault) {
            _ = try OperatorToken(file: file)
            return []
        } catch {
            return [values.problem("token-file", error.message)]
        }
    }

    /// A table of clients that nobody asks for anything.
    private func uselessClients() -> [ConfigProblem] {
        guard isSound(GatewaySettings.section.name),
            let first = self.values.first(where: { $0.section.name == ClientSettings.section.name }),
            !gateway.listeners.contains(where: { $0.listener.tls?.clientAuthorities != nil })
        else { return [] }
        return [
            ConfigProblem(
                source: first.source, path: ClientSettings.section.name,
                message: "no listener of the gateway has `clients`, so nobody is asked for a certificate")
        ]
    }

    private func unusable(
        _ name: String, _ listener: GatewaySettings.Listener, _ values: ConfigValues
    ) -> [ConfigProblem] {
        var problems: [ConfigProblem] = []
        if let tls = listener.tls { unusable(name, tls, values, &problems) }
        let accounts = name == "http2" ? gateway.serviceAccounts : nil
        if let accounts, isSound("\(values.path).http2.service-accounts") {
            do throws(GatewayError) {
                try HTTP2IngressConfiguration.checkServiceAccounts(.file(accounts))
            } catch {
                problems.append(values.problem("http2.service-accounts", error.message))
            }
        }
        guard isSound(RouteSettings.section.name) else { return problems }
        if let topic = listener.topic, !routes.isEmpty,
            !routes.contains(where: { $0.service == .apns && $0.topics?.contains(topic) ?? true })
        {
            problems.append(values.problem("\(name).topic", "\(topic.debugDescription) is a topic of no route"))
        }
        if name == "http2", isSound("gateway.http2"), !listener.listen.isLoopback,
            listener.tls?.clientAuthorities == nil, accounts == nil,
            !routes.contains(where: { $0.signingKey != nil })
        {
            problems.append(
                values.problem(
                    "http2.listen",
                    "is reached from elsewhere, and no route has a signing key that senders could sign with: give "
                        + "http2.clients or http2.service-accounts, or listen on 127.0.0.1"))
        }
        return problems
    }

    /// Each file by itself, so that each fault is told, and of its own key.
    private func unusable(
        _ name: String, _ tls: ServerTLS, _ values: ConfigValues, _ problems: inout [ConfigProblem]
    ) {
        func check(_ keys: [String], _ look: () throws(GatewayError) -> Void) -> Bool {
            guard keys.allSatisfy({ isSound("\(values.path).\(name).\($0)") }) else { return false }
            do throws(GatewayError) { try look() } catch {
                problems.append(values.problem("\(name).\(keys[0])", error.message))
                return false
            }
            return true
        }
        _ = check(["certificate", "key", "passphrase-file"]) { () throws(GatewayError) in try tls.checkIdentity() }
        var bare = tls
        bare.clientRevocations = nil
        guard check(["clients"], { () throws(GatewayError) in try bare.checkClients() }) else { return }
        _ = check(["clients-revoked"]) { () throws(GatewayError) in try tls.checkClients() }
    }

    private func unusable(_ webhook: WebhookSettings, _ values: ConfigValues) -> [ConfigProblem] {
        let known = ["url", "secret", "secret-file", "trust"].filter { !isSound("\(values.path).\($0)") }
        var problems = ReadyWebhook.mistakes(webhook, except: Set(known)).map { values.problem($0.key, $0.message) }
        if !engine.history.isKept {
            problems.append(
                values.problem("name", "has nothing to tell: give journal.history, or take the webhook away"))
        }
        return problems
    }

    /// Each part by itself, so that every fault is told once, and of its own key.
    private func unusable(
        _ route: RouteSettings, _ firebase: FirebaseSettings, _ values: ConfigValues
    ) -> [ConfigProblem] {
        var bare = FirebaseSettings(project: "none")
        bare.tokenCommand = ["true"]
        var problems: [ConfigProblem] = []
        func attempt(_ key: String, _ change: (inout RouteSettings, inout FirebaseSettings) -> Void) {
            guard isSound("\(values.path).\(key)") else { return }
            var (settings, changed) = (RouteSettings(firebase: bare), bare)
            change(&settings, &changed)
            settings.firebase = changed
            do throws(UnusableRoute) { _ = try ReadyRoute(settings) } catch {
                problems.append(values.problem(key, error.message))
            }
        }
        attempt("trust") { settings, _ in settings.trust = route.trust }
        attempt("server-name") { settings, _ in settings.network.serverName = route.network.serverName }
        attempt("proxy") { settings, _ in
            settings.network.proxy = route.network.proxy
            if isSound("\(values.path).endpoint") { settings.endpoint = route.endpoint }
        }
        // What is wrong with the proxy was said.
        if problems.isEmpty, !firebase.addresses.isEmpty {
            attempt("address") { settings, changed in
                (changed.addresses, settings.network.proxy) = (firebase.addresses, route.network.proxy)
                if isSound("\(values.path).endpoint") { settings.endpoint = route.endpoint }
            }
        }
        attempt("id-key") { _, changed in changed.idKey = firebase.idKey }
        if let file = firebase.serviceAccount {
            attempt("service-account") { _, changed in
                (changed.serviceAccount, changed.tokenCommand) = (file, [])
            }
        }
        return problems
    }

    /// Takes away what is found wrong, and tries again with the rest, so that everything is told.
    private func unusable(_ route: RouteSettings, _ values: ConfigValues) -> [ConfigProblem] {
        if let firebase = route.firebase { return unusable(route, firebase, values) }
        // Where nobody knows the endpoint, the rest is looked at for any.
        let isEndpointKnown = isSound("\(values.path).endpoint")
        var bare = RouteSettings(endpoint: isEndpointKnown ? route.endpoint : "https://localhost")
        var problems: [ConfigProblem] = []
        func attempt(_ key: String, of group: String? = nil, _ change: (inout RouteSettings) -> Void) {
            guard isSound("\(values.path).\(group ?? key)") else { return }
            var changed = bare
            change(&changed)
            do throws(UnusableRoute) {
                _ = try ReadyRoute(changed)
                bare = changed
            } catch {
                problems.append(values.problem(key, error.message))
            }
        }
        attempt("endpoint") { _ in }
        attempt("trust") { $0.trust = route.trust }
        attempt("proxy") { $0.network = route.network }
        let (key, certificate) = (route.signingKey, route.certificate)
        attempt(key?.pem == nil ? "signing-key.file" : "signing-key.pem", of: "signing-key") { $0.signingKey = key }
        attempt(certificate?.pem == nil ? "certificate.file" : "certificate.pem", of: "certificate") {
            $0.certificate = certificate
        }
        guard isSound("\(values.path).certificate"), isEndpointKnown else { return problems }
        attempt("feedback.endpoint", of: "feedback") { $0.feedback = route.feedback }
        return problems
    }
}
