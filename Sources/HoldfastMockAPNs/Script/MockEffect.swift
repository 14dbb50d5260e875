/// What happens to a connection, behind an answer or some time after it was opened.
public struct MockEffect: Sendable {
    public enum Kind: Sendable {
        /// Announces another SETTINGS_MAX_CONCURRENT_STREAMS; 0 is possible. It binds at once: what comes too many is refused
        /// with REFUSED_STREAM.
        case streams(Int)
        /// Sends GOAWAY. Streams above its last-stream-id are ignored from then on, those below answered as ever; when none is
        /// left, the connection is closed. One that names 2^31-1 only announces another, and changes nothing.
        case goAway(MockGoAway)
        /// Closes it. Answers that are still being delayed are not given.
        case close
        /// Ends it with a TCP reset, in which what was written last may be lost.
        case reset
        /// Keeps it open, and neither looks at what arrives nor writes anything any more.
        case stall
        /// Keeps it open and does not even read: what the client sends piles up in the kernels.
        case stopReading
        /// Leaves PING without an answer from then on.
        case ignorePings
    }

    public var kind: Kind
    /// How long behind the answer it happens, or behind the client's first SETTINGS. Zero is right behind the answer, and in
    /// the same segment where that is possible.
    public var delay: Duration

    public init(_ kind: Kind, after delay: Duration = .zero) {
        self.kind = kind
        self.delay = delay
    }

    public static func streams(_ count: Int, after delay: Duration = .zero) -> MockEffect {
        MockEffect(.streams(count), after: delay)
    }

    public static func goAway(_ goAway: MockGoAway = MockGoAway(), after delay: Duration = .zero) -> MockEffect {
        MockEffect(.goAway(goAway), after: delay)
    }

    public static func close(after delay: Duration = .zero) -> MockEffect { MockEffect(.close, after: delay) }

    public static func reset(after delay: Duration = .zero) -> MockEffect { MockEffect(.reset, after: delay) }

    public static func stall(after delay: Duration = .zero) -> MockEffect { MockEffect(.stall, after: delay) }

    public static let close = MockEffect(.close)
    public static let reset = MockEffect(.reset)
    public static let stall = MockEffect(.stall)
    public static let stopReading = MockEffect(.stopReading)
    public static let ignorePings = MockEffect(.ignorePings)

    /// The same, a GOAWAY naming the stream behind which it happens, or one that is so many requests from it: the client may
    /// have opened more since, which nobody has looked at. One that comes later names the last stream of its own time.
    func from(_ streamID: UInt32) -> MockEffect {
        guard case .goAway(let goAway) = kind, delay == .zero || goAway.offset != 0 else { return self }
        return MockEffect(.goAway(goAway.from(streamID)), after: delay)
    }

    /// The last stream to be looked at once it is known that this will happen; nil for all.
    var lastStreamID: UInt32? {
        guard delay == .zero else { return nil }
        switch kind {
        case .goAway(let goAway): return goAway.lastStreamID
        case .close, .reset, .stall, .stopReading: return 0
        case .streams, .ignorePings: return nil
        }
    }
}
