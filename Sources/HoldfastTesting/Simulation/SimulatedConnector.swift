internal import Holdfast

/// What the engine knows of a route; its connections are made by the world.
struct SimulatedConnector: Connector {
    static let answered = "answered"
    static let cumulative = "cumulative"
    /// Of a route that comes and goes.
    static let extra = "extra"

    let name: String
    let confirmationMode: ConfirmationMode
    private let host = HostBox()
    /// Whether it sends to another service than Apple's.
    let isOther: Bool
    /// Of a route whose topics another one serves in the other environment.
    let environment: PushEnvironment?
    /// So short that some entries of the blacklist expire within a run.
    static let blacklistLifetime = Duration.seconds(30)
    var limits: NotificationLimits {
        isOther ? ImaginaryService.limits(blacklistLifetime: Self.blacklistLifetime) : .http2
    }
    var endpoint: String { Self.endpoint(of: name) }
    static func endpoint(of route: String) -> String { "simulated://\(route)" }
    var topic: String { "com.example.\(environment == nil ? name : Self.answered)" }
    var topics: [String] { [topic, topic + ".b", topic + ".c"] }

    init(name: String, confirmationMode: ConfirmationMode, isOther: Bool = false, environment: PushEnvironment? = nil) {
        self.name = name
        self.environment = environment
        self.isOther = isOther
        self.confirmationMode = confirmationMode
    }

    func begin(_ host: ConnectorHost) { self.host.host.withLock { $0 = host } }

    /// As when its owner has put another key in place.
    func changeCredentials() { host.host.withLock { $0 }?.credentialsChanged() }

    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        throw ConnectError(.configuration, "a simulated connector is connected by its world")
    }
}

/// The host of the engine that serves the connector at the moment.
private final class HostBox: Sendable {
    let host = Monitor<ConnectorHost?>(nil)
}
