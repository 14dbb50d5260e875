internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct LanesReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the process that uses a journal read its keys and certificates again.",
        discussion: """
            For all routes: what is good is taken up without a restart, and lanes that were stopped for the old credentials run \
            again. What can't be used is said, and what was in use stays in use. Changed files are taken up without this \
            command too, unless that is turned off.

            Examples:
              holdfast lanes reload
              holdfast lanes reload --json | jq -r 'select(.failure) | .route'
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await reload() } }

    private func reload() async throws -> ToolStatus {
        guard let desk = try await DeskOpener.live(try journalOptions.path()) else {
            throw ToolError(
                .unavailable, "no process that takes orders uses the journal; what starts next reads them anyway")
        }
        let reloads = try await desk.reloadCredentials()
        await desk.close()
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
