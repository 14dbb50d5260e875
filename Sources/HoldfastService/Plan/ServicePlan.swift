internal import Holdfast

/// The checks of a configuration that only a service needs.
package enum ServicePlan {
    /// The routes, with all their files read.
    ///
    /// - Throws: ``ConfigError`` with all that is wrong at once; ``UnusableRoute`` for a file that has changed meanwhile.
    package static func routes(_ configuration: HoldfastConfiguration) throws -> [ReadyRoute] {
        let problems = problems(of: configuration)
        guard problems.isEmpty else { throw ConfigError(problems) }
        var routes: [ReadyRoute] = []
        for settings in configuration.routes { routes.append(try ReadyRoute(settings)) }
        return routes
    }

    /// The mistakes: files that can't be used, sections that don't fit each other, and missing settings.
    package static func problems(of configuration: HoldfastConfiguration) -> [ConfigProblem] {
        var problems = configuration.unusable()
        if configuration.journal.path == nil, configuration.isSound("journal") {
            problems.append(
                missing("journal.path", configuration, "is missing: a directory, which is made when there is none"))
        }
        if configuration.routes.isEmpty, configuration.isSound("routes") {
            problems.append(
                missing("routes", configuration, "is missing: what is accepted must be sent somewhere"))
        }
        if configuration.gateway.listeners.isEmpty, configuration.isSound("gateway") {
            problems.append(
                missing("gateway", configuration, "listens nowhere: give gateway.http2.listen, or another's"))
        }
        return problems.sorted(by: ConfigProblem.isBefore)
    }

    private static func missing(_ key: String, _ configuration: HoldfastConfiguration, _ message: String)
        -> ConfigProblem
    {
        ConfigProblem(
            source: configuration.file.map { .file($0, .start) } ?? .nowhere, path: key, message: message)
    }
}
