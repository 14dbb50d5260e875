package import CoreMetrics
package import Logging
package import Tracing

/// The process that a service runs in: who takes its log and its figures, and who hears how it does.
package struct ServiceHost: Sendable {
    /// Makes the logger of a part, such as `holdfast.gateway`.
    package var logger: @Sendable (_ label: String) -> Logger
    /// Takes the engine's metrics beside the service's own registry; nil for nobody else.
    package var metrics: (any MetricsFactory)?
    /// Has spans of notifications, in place of the configuration's collector; nil for that one, or nobody.
    package var tracer: (any Tracer)?
    /// The program's version and commit; nil where it is the application's.
    package var build: (version: String, commit: String)?
    /// Told the least level of the log whenever another configuration is taken up.
    package var setLevel: @Sendable (Logger.Level) -> Void = { _ in }
    /// Told the format of the log whenever another configuration is taken up.
    package var setFormat: @Sendable (LogFormat?) -> Void = { _ in }
    /// Told how the service does, and awaited.
    package var tell: @Sendable (ServiceNews) async -> Void = { _ in }

    package init(
        metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil,
        logger: @escaping @Sendable (_ label: String) -> Logger
    ) {
        (self.metrics, self.tracer) = (metrics, tracer)
        self.logger = logger
    }
}

/// How a service does, in the words of sd_notify(3).
package enum ServiceNews: Sendable {
    /// It serves, or has read its configuration again.
    case ready(String)
    case reloading
    case status(String)
    case stopping
}
