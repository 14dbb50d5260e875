internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Deliver the notifications that a journal still holds, for example after a crash.",
        discussion: """
            If `send` wrote the journal, --journal is enough: the journal remembers the route. With a configuration \
            that has routes, all lanes of these routes are delivered; lanes that no route serves are named, and left \
            alone. A notification that may have been sent before the crash is sent again with the same apns-id, and \
            counted as a possible duplicate.

            Examples:
              holdfast recover --journal push.journal --dry-run
              holdfast recover --journal push.journal --give-up-after 10m

            Exit codes are those of `send`.
            """)

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var routeOptions: RouteOptions
    @OptionGroup var deliveryOptions: DeliveryOptions

    @Flag(
        name: .long,
        help: """
            Print what would be done. The journal is opened for reading only.
            """)
    var dryRun = false

    func run() async throws { try await reporting { try await recover() } }

    private func recover() async throws -> ToolStatus {
        let configuration = deliveryOptions.over(try journalOptions.load())
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
        \(path) remembers no route: it is that of a service, or of an application with a sender of its own, and not of
        `holdfast send`.
          A service's: start the service, or name its configuration: holdfast recover --config FILE
          An application's: start it, and its engine delivers what is left. Or, if its notifications are meant for APNs,
          say where to send them: holdfast recover --journal \(path) --endpoint URL [--key P8 --key-id K --team-id T]
        """
    }
}
