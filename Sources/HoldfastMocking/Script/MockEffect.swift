/// An effect on a connection, behind an answer or some time after the connection was opened.
public struct MockEffect: Sendable {
    package enum Kind: Sendable {
        /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS; 0 is possible. It takes effect at once: streams beyond it
        /// are refused with REFUSED_STREAM.
        case streams(Int)
        /// Sends GOAWAY. Streams above its last-stream-id are ignored from then on, earlier ones answered; the
        /// connection is closed when no answer is left. 2^31-1 as last-stream-id only announces another GOAWAY, and
        /// changes nothing.
        case goAway(MockGoAway)
        /// Closes. Delayed answers are not given.
        case close
        /// Sends RST, which may lose the last bytes written.
        case reset
        /// Keeps the connection open, but neither processes arriving bytes nor writes any more.
        case stall
        /// Keeps the connection open and does not read: the client's bytes pile up in the kernels.
        case stopReading
        /// Does not answer PING from then on.
        case ignorePings
    }

    package var kind: Kind
    /// The delay behind the answer, or behind the client's first SETTINGS. Zero is right behind the answer, in the same
    /// segment where possible.
    public var delay: Duration

    package init(_ kind: Kind, after delay: Duration = .zero) {
        self.kind = kind
        self.delay = delay
    }

    /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS, 0 or more. Streams beyond it are refused with REFUSED_STREAM.
    public static func streams(_ count: Int, after delay: Duration = .zero) -> MockEffect {
        MockEffect(.streams(count), after: delay)
    }

    /// Sends GOAWAY, answers the requests before it, and closes. One that names 2^31-1 only announces another.
    public static func goAway(_ goAway: MockGoAway = MockGoAway(), after delay: Duration = .zero) -> MockEffect {
        MockEffect(.goAway(goAway), after: delay)
    }

    /// Closes the connection. Delayed answers are not given.
    public static func close(after delay: Duration = .zero) -> MockEffect { MockEffect(.close, after: delay) }

    /// Ends the connection with RST, which may lose the last bytes written.
    public static func reset(after delay: Duration = .zero) -> MockEffect { MockEffect(.reset, after: delay) }

    /// Keeps the connection open, but neither processes arriving bytes nor writes any more.
    public static func stall(after delay: Duration = .zero) -> MockEffect { MockEffect(.stall, after: delay) }

    /// Closes the connection. Delayed answers are not given.
    public static let close = MockEffect(.close)
    /// Ends the connection with RST, which may lose the last bytes written.
    public static let reset = MockEffect(.reset)
    /// Keeps the connection open, but neither processes arriving bytes nor writes any more.
    public static let stall = MockEffect(.stall)
    /// Keeps the connection open and does not read: the client's bytes pile up in the kernels.
    public static let stopReading = MockEffect(.stopReading)
    /// Does not answer PING from then on.
    public static let ignorePings = MockEffect(.ignorePings)

    /// The effect behind this stream. Its GOAWAY names the stream, or the one ``MockGoAway/offset`` requests from it:
    /// the client may have opened later streams, which are not processed. A delayed GOAWAY names the last stream of its
    /// own time.
    package func from(_ streamID: UInt32) -> MockEffect {
        guard case .goAway(let goAway) = kind, delay == .zero || goAway.offset != 0 else { return self }
        return MockEffect(.goAway(goAway.from(streamID)), after: delay)
    }

    /// The last stream to be processed once this effect is decided; nil for all.
    package var lastStreamID: UInt32? {
        guard delay == .zero else { return nil }
        switch kind {
        case .goAway(let goAway): return goAway.lastStreamID
        case .close, .reset, .stall, .stopReading: return 0
        case .streams, .ignorePings: return nil
        }
    }
}
