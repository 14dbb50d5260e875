import Holdfast
import HoldfastJournal
import HoldfastLegacyAPNs
import Logging
import ServiceLifecycle
import UnixSignals

func deliverOverBinaryProtocol(
    to gateway: String, feedback: String, as certificate: ClientCertificate,
    trusting trust: TrustedCertificates = .system,
    journal directory: String
) async throws {
    let journal = try LMDBJournal(directory: directory)
    defer { journal.close() }

    var settings = LegacyAPNsConnector.Configuration(
        endpoint: try LegacyAPNsEndpoint(gateway), trust: trust, clientCertificate: certificate)
    settings.confirmation = .barrier  // Proof only. With .quiet(.seconds(5)) silence counts as success.
    let connector = try LegacyAPNsConnector(settings)
    let engine = try PushEngine(journal: journal, routes: [Route(connector: connector, connections: 4)])

    // Tokens that the feedback service names are blacklisted, on disk, as they are read: at once, and then every hour.
    let source = try LegacyAPNsFeedback(
        .init(endpoint: try LegacyAPNsFeedbackEndpoint(feedback), trust: trust, clientCertificate: certificate))
    let reader = FeedbackReader(
        source, blacklist: engine.blacklist,
        scope: BlacklistScope(topic: "com.example.app", endpoint: connector.serviceIdentity))

    let group = ServiceGroup(
        services: [engine, reader], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "push"))
    try await group.run()
}
