internal import Holdfast

/// Where feedback is read, and how often.
package struct FeedbackSettings: Equatable, Sendable {
    package var endpoint: String
    /// From one reading to the next; nil for the reader's own default.
    package var interval: Duration?

    package init(endpoint: String, interval: Duration? = nil) {
        (self.endpoint, self.interval) = (endpoint, interval)
    }
}
