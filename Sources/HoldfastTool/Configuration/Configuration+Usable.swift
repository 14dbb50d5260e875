internal import Holdfast

extension Configuration {
    /// What is wrong with the files that routes name, by reading them: no key, no certificate, a wrong passphrase.
    func unusable() -> [ConfigProblem] {
        zip(routes, values.filter { $0.section.name == RouteSettings.section.name }).flatMap { route, values in
            Self.unusable(route, values)
        }
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
        attempt(route.signingKey?.pem == nil ? "signing-key.file" : "signing-key.pem") {
            $0.signingKey = route.signingKey
        }
        attempt(route.certificate?.pem == nil ? "certificate.file" : "certificate.pem") {
            $0.certificate = route.certificate
        }
        attempt("feedback.endpoint") { $0.feedback = route.feedback }
        return problems
    }
}
