/// How a webhook does at this moment.
package struct WebhookStanding: Hashable, Sendable {
    package let name: String
    package let figures: WebhookFigures
    /// Outcomes behind its cursor, of all Producers.
    package let waiting: Int
    /// Since the oldest outcome ended that is to be told; nothing where all is told.
    package let lag: Duration
    /// What keeps it from telling, for operators; nil for nothing.
    package let trouble: String?
}
