internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastChannels
internal import HoldfastJournal
internal import HoldfastService

/// Whose channels, where, and as whom.
struct ChannelOptions: ParsableArguments {
    @Option(
        name: .customLong("bundle-id"),
        help: ArgumentHelp(
            """
            The bundle id of the app. (default: the topic of the route, or of the journal)
            """, valueName: "id"))
    var bundleID: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Where channels are managed: `production` or `sandbox` for Apple's, https://HOST[:PORT] for another. \
            (default: by the endpoint of the route, or of the journal)
            """, valueName: "url"))
    var endpoint: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The route whose credentials are used, if the configuration has several.", valueName: "name"))
    var route: String?

    @OptionGroup var keyOptions: SigningKeyOptions
    @OptionGroup var tlsOptions: TLSOptions
    @OptionGroup var journalOptions: JournalOptions

    /// Runs `body` with a manager of the app's channels, and closes its connection.
    func withManager<R>(_ body: (ChannelManager) async throws -> R) async throws -> R {
        let plan = try plan()
        let manager: ChannelManager
        do throws(APNsConfigurationError) {
            manager = try ChannelManager(
                bundleID: plan.bundleID, plan.configuration, endpoint: plan.endpoint,
                store: ProviderTokenNotes(journal: plan.journal))
        } catch {
            throw ToolError(.configuration, error.message)
        }
        do {
            let result = try await body(manager)
            await manager.close()
            return result
        } catch {
            await manager.close()
            throw (error as? ChannelError).map { ToolError($0) } ?? error
        }
    }

    private struct Plan {
        var bundleID: String
        var configuration: APNsConnector.Configuration
        var endpoint: APNsEndpoint?
        /// `nil` for none.
        var journal: String?
    }

    /// - Throws: a `ValidationError` for what is missing or contradicts; ``ToolError`` for what is wrong with it.
    private func plan() throws -> Plan {
        let configuration = try journalOptions.load()
        let journal = journal(configuration.journal)
        var route = try base(configuration, journal)
        guard route.protocol == .http2 else {
            throw ToolError(
                .configuration,
                "\(route.endpoint) speaks the binary protocol, which knows no channels: give --endpoint")
        }
        try keyOptions.apply(with: tlsOptions, to: &route)
        guard let bundleID = bundleID ?? route.bundleID else {
            throw ValidationError("Missing --bundle-id <id>: nothing else says whose channels are meant.")
        }
        return Plan(
            bundleID: bundleID, configuration: try route.http2Configuration(), endpoint: try management(of: route),
            journal: journal)
    }

    private func journal(_ settings: JournalSettings) -> String? {
        let path = journalOptions.journal.flatMap { $0.isEmpty ? nil : $0 } ?? settings.path
        return path.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }

    /// The settings of the configuration or the journal; of the flags, only those that choose count.
    private func base(_ configuration: HoldfastConfiguration, _ journal: String?) throws -> RouteSettings {
        if let route {
            guard let found = configuration.routes.first(where: { $0.name == route }) else {
                throw ValidationError("The configuration has no route \(route.debugDescription).")
            }
            return found
        }
        let routes = configuration.routes.filter { $0.protocol == .http2 }
        if let bundleID, let found = routes.first(where: { $0.serves(bundleID: bundleID) }) { return found }
        switch routes.count {
        case 1: return routes[0]
        case 2...:
            throw ValidationError(
                "Missing --route <name>: the configuration has \(routes.map(\.name).joined(separator: ", ")).")
        default: break
        }
        if let remembered = try remembered(by: journal) { return remembered }
        guard let endpoint else {
            throw ValidationError(
                "Missing --endpoint <url>: no configuration has a route, and no journal remembers one.")
        }
        return RouteSettings(endpoint: endpoint)
    }

    /// The route of flags that a journal remembers. One that is sealed is asked only where its key is at hand, and where the flags
    /// say all, none is asked.
    private func remembered(by journal: String?) throws -> RouteSettings? {
        guard let journal else { return nil }
        do {
            return try RouteSettings.remembered(by: journal)
        } catch let error as JournalError where error.code == .wrongKey {
            guard endpoint == nil else { return nil }
            throw ToolError(
                .configuration,
                "\(error.message) Its key is needed for the route that the journal remembers: give the service's configuration "
                    + "(--config FILE) or --key-file FILE; or do without the journal, by --endpoint, --bundle-id and credentials "
                    + "(--key, --key-id, --team-id)")
        }
    }

    /// `nil` for Apple's address in the environment of the route.
    private func management(of route: RouteSettings) throws(ToolError) -> APNsEndpoint? {
        guard let text = endpoint ?? route.channelsEndpoint else { return nil }
        do throws(APNsConfigurationError) {
            return try APNsEndpoint(management: text)
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}

extension RouteSettings {
    private static func bundleID(_ topic: String) -> String {
        let ending = PushType.liveActivityTopicEnding
        return topic.hasSuffix(ending) ? String(topic.dropLast(ending.count)) : topic
    }

    /// The app, where all topics are of one.
    fileprivate var bundleID: String? {
        let all = Set((topics ?? []).union(defaultTopic.map { [$0] } ?? []).map(Self.bundleID))
        return all.count == 1 ? all.first : nil
    }

    fileprivate func serves(bundleID: String) -> Bool {
        topics?.contains { Self.bundleID($0) == bundleID } ?? false
    }
}

extension ToolError {
    init(_ error: ChannelError) {
        let status: ToolStatus =
            switch error.code {
            case .configuration, .notAuthorized: .configuration
            case .unreachable, .unavailable, .malformedAnswer: .unavailable
            // Scripts repeat a command that ends with the code for "not now", and this must not be done twice.
            default: .notAllConfirmed
            }
        self.init(status, error.message)
    }
}
