internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Deliver what a journal still holds, after a crash for example.",
        discussion: """
            Needs no flags beside --journal when `send` wrote the journal: it remembers its route. With a configuration that \
            has routes, all lanes of these are delivered, and those that no route serves are named and left alone. What may \
            have been sent before the crash goes again with the same apns-id, and is counted as a possible duplicate.

            Exit codes are those of `send`.

            Examples:
              holdfast recover --journal push.journal --dry-run
              holdfast recover --journal push.journal --give-up-after 10m
            """)

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var routeOptions: RouteOptions
    @OptionGroup var deliveryOptions: DeliveryOptions

    @Flag(name: .long, help: "Say what it would do. Opens the journal for reading only.")
    var dryRun = false

    func run() async throws { try await reporting { try await recover() } }

    private func recover() async throws -> ToolStatus {
        let configuration = deliveryOptions.over(try journalOptions.configOptions.load())
        let path = try journalOptions.path(configuration.journal)
        let plan = RoutePlan(configuration, routeOptions, deliveryOptions)
        if dryRun {
            return try DryRun(path: path, configured: configuration.routes, json: deliveryOptions.json).run()
        }
        let journal = try await configuration.journal.open(at: path, create: false)
        defer { journal.close() }
        let remembered = try RouteSettings.read(from: journal, named: path)
        guard plan.isConfigured || remembered != nil || routeOptions.endpoint != nil else {
            throw ToolError(.configuration, Self.noRoute(path))
        }
        let routes = try plan.routes(remembered: remembered, missingEndpoint: "")
        // A journal of an application's own is delivered where the flags say, and does not remember them.
        if let remembered, let route = plan.toRemember(of: routes), route != remembered { try route.write(to: journal) }
        let delivery = Delivery(
            journal: journal, routes: routes, configuration: configuration, json: deliveryOptions.json)
        return try await delivery.run(.nothing)
    }

    static func noRoute(_ path: String) -> String {
        """
        \(path) remembers no route: it belongs to an application with a sender of its own, not to `holdfast send`.
          Start that application: its engine delivers what is left. Or, if its notifications are meant for APNs,
          say where to send them: holdfast recover --journal \(path) --endpoint URL [--key P8 --key-id K --team-id T]
          If it was written with a configuration that has routes, name that: holdfast recover --config FILE
        """
    }
}
