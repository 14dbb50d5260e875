internal import Holdfast

/// What the engine knows of a route; its connections are made by the world.
struct SimulatedConnector: Connector {
    static let answered = "answered"
    static let cumulative = "cumulative"

    let name: String
    let confirmationMode: ConfirmationMode
    var limits: NotificationLimits { .http2 }
    var endpoint: String { "simulated://\(name)" }
    var topic: String { "com.example.\(name)" }

    func connect(_ sink: ConnectionSink) async throws(ConnectError) -> any Connection {
        throw ConnectError(.configuration, "a simulated connector is connected by its world")
    }
}
