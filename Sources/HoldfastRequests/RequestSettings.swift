/// The named bounds of a ``RequestSession``.
package struct RequestSettings: Sendable {
    /// For people: where it is connected to.
    package var endpoint: String
    /// The most a request may take from being written to its answer; then its outcome is unknown. Requests that were started
    /// within one second are given up together, with the youngest of them.
    package var sendDeadline: Duration
    /// A connection on which nothing has arrived for this long is asked for a sign of life (PING).
    package var pingAfter: Duration
    /// How long that sign of life may take before the connection counts as dead.
    package var pingDeadline: Duration
    /// A connection that has had nothing to send for this long is closed; nil keeps it.
    package var idleClose: Duration?
    /// The most requests at a time, whatever more the service allows.
    package var maximumStreams: Int
    /// Bytes kept of an answer's body; what is longer is cut there.
    package var maximumBody = 8192
    /// Whether the header fields of successes are wanted, too, which costs some 2 µs for each.
    package var decodesSuccesses = false
    /// Odd; for tests of what happens when a connection's stream numbers run out.
    package var firstStreamID: UInt32 = 1

    package init(
        endpoint: String, sendDeadline: Duration, pingAfter: Duration, pingDeadline: Duration, idleClose: Duration?,
        maximumStreams: Int
    ) {
        self.endpoint = endpoint
        self.sendDeadline = sendDeadline
        self.pingAfter = pingAfter
        self.pingDeadline = pingDeadline
        self.idleClose = idleClose
        self.maximumStreams = maximumStreams
    }
}
