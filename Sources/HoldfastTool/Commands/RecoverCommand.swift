internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Deliver what a journal still holds, after a crash for example.",
        discussion: """
            Needs no flags beside --journal when `send` wrote the journal: it remembers its route. What may have been sent \
            before the crash goes again with the same apns-id, and is counted as a possible duplicate.

            Exit codes are those of `send`.
            """)

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var routeOptions: RouteOptions
    @OptionGroup var deliveryOptions: DeliveryOptions

    @Flag(name: .long, help: "Say what it would do. Opens the journal for reading only.")
    var dryRun = false

    func run() async throws { try await reporting { try await recover() } }

    private func recover() async throws -> ToolStatus {
        let path = try journalOptions.path()
        if dryRun { return try DryRun(path: path, json: deliveryOptions.json).run() }
        let journal = try LMDBJournal(directory: path, options: deliveryOptions.journalOptions(create: false))
        defer { journal.close() }
        let remembered = try RememberedRoute.read(from: journal, named: path)
        let route: RememberedRoute
        do {
            route = try routeOptions.route(remembered: remembered, missingEndpoint: "")
        } catch let error as ValidationError where remembered != nil || routeOptions.endpoint != nil {
            throw error
        } catch {
            throw ToolError(.configuration, Self.noRoute(path))
        }
        let connector = try route.connector()
        // A journal of an application's own is delivered where the flags say, and does not remember them.
        if let remembered, route != remembered { try route.write(to: journal) }
        return try await Delivery(journal: journal, connector: connector, route: route, options: deliveryOptions).run(
            nil)
    }

    static func noRoute(_ path: String) -> String {
        """
        \(path) remembers no route: it belongs to an application with a sender of its own, not to `holdfast send`.
          Start that application: its engine delivers what is left. Or, if its notifications are meant for APNs,
          say where to send them: holdfast recover --journal \(path) --endpoint URL [--key P8 --key-id K --team-id T]
        """
    }
}
