package import Holdfast
package import HoldfastHTTP2

/// The field `Retry-After` of an answer (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The time to wait that it asks for: seconds, or a date; a day at most, and nothing for a date that has passed.
    ///
    /// - Returns: nil for a text that is neither.
    package static func duration(_ text: some StringProtocol, at now: WallTime) -> Duration? {
        let day: Int64 = 24 * 60 * 60
        if let seconds = Int64(text) { return seconds < 0 ? nil : .seconds(min(seconds, day)) }
        return HTTPDate(text).map { min(max($0.time.since(now), .zero), .seconds(day)) }
    }
}

extension HTTP2Response {
    /// The time to wait that the service asks for; see ``RetryAfter``. Nil where it does not say, or says neither seconds nor
    /// a date.
    package func retryAfter(at now: WallTime) -> Duration? {
        headers.first(name: "retry-after").flatMap { RetryAfter.duration($0, at: now) }
    }
}
