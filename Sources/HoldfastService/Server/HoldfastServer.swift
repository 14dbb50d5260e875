public import CoreMetrics
public import Holdfast
public import HoldfastGateway
public import Logging
public import ServiceLifecycle
public import Tracing

/// `holdfast serve` inside an application: listeners for senders, the journal, its routes, and a page for operators.
///
/// A `Service` of swift-service-lifecycle: run it in a `ServiceGroup`, or in a task. It has no effect on the process beyond
/// its files, sockets and threads: it bootstraps neither logging nor metrics, traps no signals, changes no limits, prints
/// nothing and never exits. Where those are wanted, the application has them.
public final class HoldfastServer: Service, Sendable {
    private let server: ServiceRun

    /// Reads the files that the configuration names, and opens nothing yet.
    ///
    /// - Parameters:
    ///   - logger: takes what is logged. Its level is the application's own: `log.level` of the configuration is for the
    ///     tool.
    ///   - metrics: takes the engine's metrics, for example `MetricsSystem.factory`; the page at `admin.listen` has them in
    ///     any case. Nil for nobody else.
    ///   - tracer: has spans of notifications, for example `InstrumentationSystem.tracer`, in place of the collector at
    ///     `traces.endpoint`. Nil for that one, or nobody.
    /// - Throws: ``ConfigError`` with everything that is missing to serve or can't be used; ``UnusableRoute`` for a file that
    ///   changed meanwhile.
    public init(
        configuration: HoldfastConfiguration, logger: Logger, metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil
    ) throws {
        server = ServiceRun(
            configuration, routes: try ServicePlan.routes(configuration),
            host: ServiceHost(metrics: metrics, tracer: tracer) { _ in logger }, sources: ServiceRun.Sources())
    }

    /// Serves until a graceful shutdown: then nothing new is taken, what is in hand is answered, what is in flight gets its
    /// time (`limits.shutdown-limit`), and the rest stays in the journal for the next start.
    ///
    /// Cancellation ends it, too, all parts at once, so that a sender may be left without an answer. A journal that fails
    /// while it serves is opened anew, with growing pauses. A server runs once: a second call returns
    /// at once, without an error.
    ///
    /// - Throws: `JournalError` when the journal can't be opened, or fails again and again; `GatewayError` when an address
    ///   can't be listened on; `CancellationError` when the task is cancelled before it serves.
    public func run() async throws {
        let outcome = await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { [server] in
                // Cancelled, it is over anyway.
                do { try await gracefulShutdown() } catch { return }
                await server.end()
            }
            let outcome = await server.run()
            tasks.cancelAll()
            return outcome
        }
        if let error = outcome.error { throw error }
    }

    /// Takes up another configuration while it serves, all of it or nothing.
    ///
    /// Routes whose settings stay keep their connections; others take over what waits in the lanes of their names. Keys,
    /// certificates and lists of clients are read again from their files. Before ``run()`` and between two openings of the
    /// journal it holds for what comes next.
    ///
    /// - Returns: the sections and keys that were changed and wait for a new server, such as `journal` or
    ///   `gateway.http2.listen`; empty when everything is taken up.
    /// - Throws: ``ConfigError``, ``UnusableRoute``, `RouteError` or `GatewayError`. Everything is then as it was.
    @discardableResult
    public func reload(_ configuration: HoldfastConfiguration) async throws -> [String] {
        try await server.reload { configuration }
    }

    /// Whether senders are served, why not, and warnings for operators, as `/health/ready` tells them.
    public var health: Health { server.health }

    /// The addresses of the listeners by the protocol's name, `http2`, `binary` or `feedback`, with the ports that the system
    /// chose; empty until it serves. They stay as they were after its end.
    public var addresses: [String: ListenAddress] { server.addresses }

    /// The engine that delivers, for submissions of the application's own; nil while the journal is closed.
    ///
    /// Do not keep it: when the journal fails, another one takes its place.
    public var engine: PushEngine? { server.engine }

    /// All figures in Prometheus' text format: what `/metrics` tells.
    public var prometheusText: String { server.metrics }
}
