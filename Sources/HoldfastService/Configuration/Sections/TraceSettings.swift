package import Holdfast
package import HoldfastRequests
internal import HoldfastTransport

/// `traces:` — where spans of notifications go.
package struct TraceSettings: Equatable, Sendable {
    /// `nil` traces nothing.
    package var endpoint: PostAddress?
    /// Of the notifications whose senders name no trace, the share that gets one of its own.
    package var sample: Double
    package var serviceName: String
    package var interval: Duration
    package var timeout: Duration
    package var limit: Int
    package var trust: String?
    package var proxy: ProxyServer?

    package static let section = ConfigSection(
        name: "traces",
        meaning:
            "spans of notifications for a collector of OpenTelemetry: see [Traces.md](../Operate/Traces.md). Without an "
            + "endpoint, nothing is traced",
        keys: [
            ConfigKey(
                "endpoint", .collectorURL,
                "where spans are posted to, as OTLP in JSON; the path is `/v1/traces` where none is named"),
            ConfigKey(
                "sample", .share(0...1), default: "0",
                "of the notifications whose senders name no trace, the share that gets one of its own: `1` is all. Those whose "
                    + "senders do are traced if the sender wants that (the *sampled* flag of `traceparent`)"),
            ConfigKey("service-name", .text("a name", 1...64), default: "holdfast", "what spans are said to come from"),
            ConfigKey(
                "interval", .duration(.milliseconds(10)...(.seconds(60))), default: "1s",
                "how long spans wait for others of their request, of which it has 512 at most"),
            ConfigKey(
                "timeout", .duration(.milliseconds(100)...(.seconds(60))), default: "10s",
                "how long the collector's answer is waited for; then the request is repeated, four times at most"),
            ConfigKey(
                "limit", .count(1...1_000_000), default: "20000",
                "the most spans that wait, in memory; further ones are dropped and counted"),
            ConfigKey("trust", .file, "PEM file with the certificates to trust, instead of the system's"),
            ConfigKey(
                "proxy", .proxy, "what connections go through; port 3128, or 1080 for SOCKS, where none is named"),
        ])

    /// - Precondition: the values are without a mistake.
    package init(_ values: ConfigValues) {
        // A text that is none was said already.
        endpoint = values.text("endpoint").flatMap { try? PostAddress(collector: $0) }
        sample = values.share("sample") ?? 0
        serviceName = values.text("service-name") ?? "holdfast"
        interval = values.duration("interval") ?? .seconds(1)
        timeout = values.duration("timeout") ?? .seconds(10)
        limit = values.count("limit") ?? 20_000
        trust = values.text("trust")
        proxy = values.proxy
    }

    /// The collector; `nil` without an endpoint.
    package var target: PostTarget? {
        endpoint.map { PostTarget(address: $0, trust: trust.map { .file($0) } ?? .system, proxy: proxy) }
    }
}

extension ConfigType {
    /// The URL of a collector. Its path and query may hold a secret, and are never shown.
    package static let collectorURL = ConfigType(
        allowed: "`https://HOST[:PORT][/PATH]`, or `http://` with a loopback address", isSecret: true
    ) { text, _ throws(Fault) in
        do throws(TransportConfigurationError) { _ = try PostAddress(collector: text) } catch {
            throw Fault(message: "\(error.message); takes https://HOST[:PORT][/PATH]")
        }
        return .text(text)
    } write: { value in
        guard case .text(let text) = value else { return "(secret)" }
        do throws(TransportConfigurationError) { return try PostAddress(collector: text).server + "/…" } catch {
            return "(secret)"
        }
    }
}

extension PostAddress {
    /// The URL of a collector, with OTLP's own path where it has none.
    fileprivate init(collector text: String) throws(TransportConfigurationError) {
        func address(_ text: String) throws(TransportConfigurationError) -> PostAddress {
            try PostAddress(text, cargo: "spans", credentials: "requests carry no credentials")
        }
        let given = try address(text)
        self = given.target == "/" && !text.hasSuffix("/") ? try address(text + "/v1/traces") : given
    }
}
