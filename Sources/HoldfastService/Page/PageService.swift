internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway
internal import Logging

/// What the page asks of the service that it belongs to.
struct PageService: Sendable {
    /// nil while no journal is open.
    let journal: @Sendable () -> PageJournal?
    /// The fleet that the journal belongs to; nil for a directory's own, and while no journal is open.
    let fleet: @Sendable () -> FleetLook?
    let facts: @Sendable () -> ServiceFacts
    /// The listeners of senders, and what they have counted.
    let senders: @Sendable () -> [SenderListenerForm]
    let samples: PageSamples
    let logger: Logger
}

/// The service's facts, for who looks at it.
struct ServiceFacts: Encodable, Sendable {
    struct Listener: Encodable, Sendable {
        var listener: String
        var address: String
    }

    var version: String?
    var host: String
    var process: Int
    var startedAt: ExactTime
    /// The directory, or the working copy of a journal that is kept in PostgreSQL.
    var journal: String?
    /// The name of a journal in PostgreSQL; absent for a directory's own.
    var journalName: String?
    /// The name of this host among those that share a database; absent for a directory's own journal.
    var fleetHost: String?
    /// The file that the configuration was read from.
    var configuration: String?
    var isReady: Bool
    /// Why senders are not served, and what else somebody should look at, as `/health/ready` has it.
    var obstacles: [String]
    var warnings: [String]
    var listeners: [Listener]
    /// Times that the configuration was taken up and refused, and that the journal was opened anew.
    var reloads: Int
    var failedReloads: Int
    var reopened: Int
}

/// A listener for senders, as `holdfast_gateway_…` of the metrics has it.
struct SenderListenerForm: Encodable, Sendable {
    var listener: String
    var connections: Int
    var accepted: Int
    var repeated: Int
    /// Notifications that were refused, by the word that was answered.
    var refused: [String: Int]
    var unanswered: Int
    /// Connections that were ended for what their client did.
    var faults: [String: Int]

    init(_ name: String, connections: Int, _ values: IngressFigures.Values) {
        (listener, self.connections) = (name, connections)
        accepted = values.accepted
        repeated = values.repeated
        refused = values.refused
        unanswered = values.unanswered
        faults = values.faults
    }
}
