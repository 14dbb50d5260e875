internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct RoutesConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Have routes try at once whatever they wait for: the next connection first of all.",
        discussion: """
            After an outage a route waits for its next try, for longer the longer the outage lasted. When you know that \
            the service is back, there is nothing to wait for. Probes of stopped lanes, of topics that are set aside and of a \
            throttle go out at once, too, and the pauses begin anew. Waits up to 10 s for what comes of it.

            Examples:
              holdfast routes connect default
              holdfast routes connect --all

            Exit codes: 0 every route has a connection, or needs none · 75 one has none yet · 69 nothing runs · others as in \
            `holdfast --help`.
            """)

    @Argument(help: ArgumentHelp("A route, by its name.", valueName: "route"))
    var routes: [String] = []

    @Flag(name: .long, help: "All routes.")
    var all = false

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard all != !routes.isEmpty else { throw ValidationError("Name routes, or say --all.") }
    }

    func run() async throws { try await reporting { try await connect() } }

    private func connect() async throws -> ToolStatus {
        let desk: RemoteDesk
        do {
            desk = try await placeOptions.place().liveDesk()
        } catch let error as ControlError where error.code == .notServed {
            throw ToolError(
                .unavailable, "no process that takes orders uses the journal, so nothing waits for a connection")
        }
        do {
            let known = try await desk.status().routes.map(\.name)
            let chosen = all ? known : routes
            if let unknown = chosen.first(where: { !known.contains($0) }) {
                throw ToolError(
                    .noInput,
                    "there is no route \(unknown.debugDescription): the process has \(known.joined(separator: ", "))")
            }
            let status = try await RouteTrial.run(chosen, desk, json: json)
            await desk.close()
            return status
        } catch {
            await desk.close()
            throw error
        }
    }
}

/// Has routes try at once, and waits a while for what comes of it.
enum RouteTrial {
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(100)

    /// A route that was to try. The names of its properties are those of the JSON.
    private struct Row: Encodable {
        var route: String
        var connection: String
        var isAway: Bool
    }

    static func run(_ routes: [String], _ desk: any OperatorDesk, json: Bool) async throws -> ToolStatus {
        var failures: [String: Int] = [:]
        for condition in try await desk.status().conditions ?? [] where condition.kind == .serviceAway {
            failures[condition.subject] = condition.failures
        }
        for route in routes { try await desk.connect(route: route) }
        var open = Set(routes)
        let deadline = ContinuousClock.now + patience
        while true {
            let status = try await desk.status()
            let isLast = ContinuousClock.now >= deadline
            for route in status.routes where open.contains(route.name) {
                let away = status.conditions?.first { $0.kind == .serviceAway && $0.subject == route.name }
                // Once more it has failed, or it has worked.
                let isTried =
                    !route.isAway && route.connection != "connecting"
                    || (away?.failures ?? 0) > failures[route.name] ?? 0
                guard isTried || isLast else { continue }
                open.remove(route.name)
                try tell(route, json: json)
            }
            guard !open.isEmpty, !isLast else {
                return status.routes.contains { routes.contains($0.name) && $0.isAway } ? .entriesLeft : .ok
            }
            try await Task.sleep(for: pause)
        }
    }

    private static func tell(_ route: DeskStatus.Route, json: Bool) throws {
        let row = Row(route: route.name, connection: route.connection, isAway: route.isAway)
        let words = "\(row.route.printable(maximumLength: 64)): \(row.connection.printable(maximumLength: 1000))"
        Console.standard.print(json ? try JSONOutput.line(row) : words)
    }
}
