internal import Holdfast
internal import HoldfastGateway

extension Configuration {
    /// What is wrong with the files that routes and listeners name, by reading them: no key, no certificate, a wrong
    /// passphrase; and what sections say that does not go together.
    func unusable() -> [ConfigProblem] {
        let routeProblems = zip(routes, values.filter { $0.section.name == RouteSettings.section.name }).flatMap {
            Self.unusable($0, $1)
        }
        guard let values = values.first(where: { $0.section.name == GatewaySettings.section.name }) else {
            return routeProblems
        }
        return routeProblems + gateway.listeners.flatMap { unusable($0.name, $0.listener, values) }
    }

    private func unusable(
        _ name: String, _ listener: GatewaySettings.Listener, _ values: ConfigValues
    ) -> [ConfigProblem] {
        var problems: [ConfigProblem] = []
        if var tls = listener.tls {
            let authorities = tls.clientAuthorities
            tls.clientAuthorities = nil
            do throws(GatewayError) { try tls.check() } catch {
                problems.append(values.problem("\(name).certificate", error.message))
            }
            if problems.isEmpty, authorities != nil {
                tls.clientAuthorities = authorities
                do throws(GatewayError) { try tls.check() } catch {
                    problems.append(values.problem("\(name).clients", error.message))
                }
            }
        }
        if let topic = listener.topic, !routes.isEmpty, !routes.contains(where: { $0.topics?.contains(topic) ?? true })
        {
            problems.append(values.problem("\(name).topic", "\(topic.debugDescription) is a topic of no route"))
        }
        if name == "http2", !listener.listen.isLoopback, listener.tls?.clientAuthorities == nil,
            !routes.contains(where: { $0.signingKey != nil })
        {
            problems.append(
                values.problem(
                    "http2.listen",
                    "is reached from elsewhere, and no route has a signing key that senders could sign with: give "
                        + "http2.clients, or listen on 127.0.0.1"))
        }
        return problems
    }

    /// Takes away what is found wrong, and tries again with the rest, so that everything is told.
    private static func unusable(_ route: RouteSettings, _ values: ConfigValues) -> [ConfigProblem] {
        var bare = RouteSettings(endpoint: route.endpoint)
        var problems: [ConfigProblem] = []
        func attempt(_ key: String, _ change: (inout RouteSettings) -> Void) {
            var changed = bare
            change(&changed)
            do throws(ToolError) {
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
        attempt(key?.pem == nil ? "signing-key.file" : "signing-key.pem") { $0.signingKey = key }
        attempt(certificate?.pem == nil ? "certificate.file" : "certificate.pem") { $0.certificate = certificate }
        attempt("feedback.endpoint") { $0.feedback = route.feedback }
        return problems
    }
}
