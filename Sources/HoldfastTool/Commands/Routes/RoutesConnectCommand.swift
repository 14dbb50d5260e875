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

            Exit codes: 0 every route has a connection, or needs none, and nothing was refused · 78 the service still refuses a \
            lane or a topic · 75 a route has no connection yet, or no answer, or is throttled and nothing was taken, or the \
            process takes no orders · 69 nothing runs · others as in `holdfast --help`.
            """)

    @Argument(help: ArgumentHelp("A route, by its name.", valueName: "route"), completion: RouteCompletion.kind)
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
        let place = try placeOptions.place()
        let desk: RemoteDesk
        do {
            desk = try await place.liveDesk()
        } catch let error as ControlError where error.code == .notServed {
            throw place.unserved(
                atRest: "no process that takes orders uses the journal, so nothing waits for a connection")
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
