/// The timeouts and limits of a ``RequestSession``.
package struct RequestSettings: Sendable {
    /// The name of the service, for people.
    package var endpoint: String
    /// The most a request may take from being written to its answer; then its outcome is unknown. Requests that were started
    /// within one second are given up together, with the youngest of them.
    package var sendDeadline: Duration
    /// The time without incoming data after which a PING checks the connection.
    package var pingAfter: Duration
    /// The timeout of a PING, after which the connection counts as dead.
    package var pingDeadline: Duration
    /// The time without requests after which a connection is closed; `nil` keeps it.
    package var idleClose: Duration?
    /// The limit on requests at a time. The service may allow fewer.
    package var maximumStreams: Int
    /// The limit on the bytes kept of an answer's body. A longer body is cut.
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
