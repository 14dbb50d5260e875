package import Holdfast
package import HoldfastHTTP2

extension HTTP2Response {
    /// The time to wait that the service asks for: seconds, or a date (RFC 9110 section 10.2.3); a day at most, and nothing
    /// for a date that has passed. Nil where it does not say, or says neither.
    package func retryAfter(at now: WallTime) -> Duration? {
        guard let text = headers.first(name: "retry-after") else { return nil }
        let day: Int64 = 24 * 60 * 60
        if let seconds = Int64(text) { return seconds < 0 ? nil : .seconds(min(seconds, day)) }
        return HTTPDate(text).map { min(max($0.time.since(now), .zero), .seconds(day)) }
    }
}
