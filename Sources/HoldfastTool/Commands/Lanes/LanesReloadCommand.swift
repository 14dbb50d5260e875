internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct LanesReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the process that uses a journal read its keys and certificates again.",
        discussion: """
            All routes read their files again. Good files are used without a restart, and lanes that had stopped for \
            the old credentials run again. For a file that can't be used, the cause is printed, and the old content \
            stays in use. Changed files are also taken up without this command, unless that is turned off.

            Examples:
              holdfast lanes reload
              holdfast lanes reload --json | jq -r 'select(.failure) | .route'
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await reload() } }

    private func reload() async throws -> ToolStatus {
        let place = try placeOptions.place()
        let reloads: [CredentialReload]
        do {
            let desk = try await place.liveDesk()
            reloads = try await desk.reloadCredentials()
            await desk.close()
        } catch let error as ControlError where error.code == .notServed {
            throw place.unserved(
                atRest: "no process that takes orders uses the journal; what starts next reads them anyway")
        }
        for reload in reloads {
            let words = reload.failure.map { "not taken up: \($0.printable(maximumLength: 1000))" } ?? "read again"
            Console.standard.print(
                json
                    ? try JSONOutput.line(ReloadForm(reload))
                    : "\(reload.route.printable(maximumLength: 64)): \(words)")
        }
        return reloads.contains { $0.failure != nil } ? .configuration : .ok
    }
}
