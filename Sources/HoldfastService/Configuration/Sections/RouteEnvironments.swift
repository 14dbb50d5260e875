internal import Holdfast

/// Which environments the routes of a configuration serve, and what contradicts there.
enum RouteEnvironments {
    /// How two routes may serve one topic.
    static let twoRoutes = "two with `environment: production` and `environment: sandbox`"

    /// The environment of a route; nil for both, and for one that is not known for a mistake that was told.
    static func environment(of values: ConfigValues) -> PushEnvironment? {
        values.text("environment").flatMap(PushEnvironment.init)
            ?? values.text("endpoint").flatMap { RouteSettings.environment(of: $0) }
    }

    /// Whether two routes serve the same environment, so that they can't share a topic.
    static func collide(_ one: ConfigValues, _ other: ConfigValues) -> Bool {
        guard let first = environment(of: one), let second = environment(of: other) else {
            // What it was meant to be is not known.
            return !one.isUnknown("environment") && !other.isUnknown("environment")
        }
        return first == second
    }

    static func check(_ values: ConfigValues, among all: [ConfigValues], _ problems: inout [ConfigProblem]) {
        guard !FirebaseSettings.areMeant(values) else { return }
        if let stated = values.text("environment"), let endpoint = values.text("endpoint"),
            let actual = RouteSettings.environment(of: endpoint), actual.rawValue != stated
        {
            problems.append(
                values.problem(
                    "environment", "contradicts: the endpoint \(endpoint) is Apple's \(actual.rawValue) environment"))
        }
        guard values.text("other-environment") == "try", !values.isUnknown("environment"), !values.isUnknown("endpoint")
        else { return }
        guard let environment = environment(of: values) else {
            let message = "needs `environment`: without it the route serves both"
            problems.append(values.problem("other-environment", message))
            return
        }
        let others = all.filter { !FirebaseSettings.areMeant($0) && self.environment(of: $0) == environment.other }
        if !others.contains(where: { sharesTopics(values, $0) }) {
            problems.append(
                values.problem(
                    "other-environment",
                    "tries nothing: no route with `environment: \(environment.other.rawValue)` serves a topic of this one"
                ))
        }
    }

    private static func sharesTopics(_ one: ConfigValues, _ other: ConfigValues) -> Bool {
        guard let first = one.texts("topics"), let second = other.texts("topics") else { return true }
        return !Set(first).isDisjoint(with: second)
    }
}
