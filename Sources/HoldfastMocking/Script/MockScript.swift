/// A script of the faults of a mock push service: steps, each with a condition.
///
/// For each request, and for each connection as it arrives, the first matching step decides; where none matches, it is
/// handled normally. `holdfast mock http2 --script` reads a script from YAML: Docs/Guide/MockService.md.
///
/// ```swift
/// configuration.script = [
///     .request(.init(first: 1), MockAnswer(.rejected("ExpiredProviderToken"))),
///     .request(.init(every: 100), MockAnswer(.reset(code: 0x7))),
///     .request(.init(number: 50), MockAnswer(then: [.goAway(.init(reason: "Shutdown"))])),
///     .connection(.init(address: "127.0.0.2"), MockConnectionPlan(tls: .stalled)),
/// ]
/// ```
public struct MockScript: Sendable, ExpressibleByArrayLiteral {
    /// The steps, in the order in which they are asked.
    public var steps: [Step]

    /// Creates a script of these steps.
    public init(_ steps: [Step]) { self.steps = steps }

    /// Creates a script of these steps.
    public init(arrayLiteral steps: Step...) { self.init(steps) }

    /// A condition, and the handling of requests or connections that meet it.
    public struct Step: Sendable {
        package enum Action: Sendable {
            /// The handling of a request.
            case answer(MockAnswer)
            /// The handling of a connection, decided when it arrives.
            case connect(MockConnectionPlan)
        }

        /// The name in the server's `scriptCounts`. Default: `step 3`, for the third.
        public var name: String?
        /// The condition.
        public var match: Match
        package var action: Action

        package init(name: String? = nil, _ match: Match, _ action: Action) {
            self.name = name
            self.match = match
            self.action = action
        }

        package init(name: String? = nil, _ action: Action) { self.init(name: name, Match(), action) }

        /// Creates a step for matching requests.
        public static func request(_ match: Match, _ answer: MockAnswer, name: String? = nil) -> Step {
            Step(name: name, match, .answer(answer))
        }

        /// Creates a step for each request.
        public static func request(_ answer: MockAnswer, name: String? = nil) -> Step {
            Step(name: name, .answer(answer))
        }

        /// Creates a step for matching connections.
        public static func connection(_ match: Match, _ plan: MockConnectionPlan, name: String? = nil) -> Step {
            Step(name: name, match, .connect(plan))
        }

        /// Creates a step for each connection.
        public static func connection(_ plan: MockConnectionPlan, name: String? = nil) -> Step {
            Step(name: name, .connect(plan))
        }
    }
}

extension MockScript {
    /// The condition of a step, met where all of its parts are. A part that is about requests is not met by a
    /// connection.
    public struct Match: Sendable {
        /// The scope in which a step decides only once. May gain cases: construct it, do not switch over it.
        public enum Once: String, Sendable, CaseIterable {
            /// Once for each connection.
            case connection
            /// Once for each device token.
            case token
            /// Once for each broadcast channel.
            case channel
        }

        /// The number over the server's life, counted from 1: of the request, or of the connection where the step is
        /// for those.
        public var count: ClosedRange<Int>?
        /// The number of the request on its connection, counted from 1.
        public var number: ClosedRange<Int>?
        /// The number of the connection over the server's life, counted from 1, for all addresses together.
        public var connections: ClosedRange<Int>?
        /// Device tokens, in hex of either case.
        public var tokens: Set<String>?
        /// Device tokens that do not match, in hex of either case.
        public var exceptTokens: Set<String> = []
        /// Broadcast channels.
        public var channels: Set<String>?
        /// Topics; for broadcasts and requests about channels, the bundle id in the path.
        public var topics: Set<String>?
        /// The address that the client connected to: `127.0.0.2`, or with a port `127.0.0.2:2197` or `[::1]:2197`;
        /// `management` is the address for channel management.
        public var address: String?
        /// The earliest time, from the server's start.
        public var after: Duration?
        /// The time, from the server's start, at which it stops matching.
        public var until: Duration?
        /// The scope in which the step decides only once. Default: no restriction.
        public var once: Once?
        /// Skips the first so many matches of each second since the server's start. With a refusal as the answer this
        /// is a quota. Counted after all conditions above. Default: none.
        public var beyond: Int?
        /// Skips this many matches. Counted after ``beyond``. Default: 0.
        public var skip: Int
        /// Takes every N-th of the remaining matches, beginning with the N-th. Default: 1, each.
        public var every: Int
        /// The most matches taken. Default: no limit.
        public var times: Int?

        /// Creates a condition; the defaults restrict nothing.
        public init(
            count: ClosedRange<Int>? = nil, number: ClosedRange<Int>? = nil, connections: ClosedRange<Int>? = nil,
            tokens: [String] = [], exceptTokens: [String] = [], channels: [String] = [], topics: [String] = [],
            address: String? = nil, after: Duration? = nil, until: Duration? = nil, once: Once? = nil,
            beyond: Int? = nil, skip: Int = 0, every: Int = 1,
            times: Int? = nil
        ) {
            self.count = count
            self.number = number
            self.connections = connections
            self.tokens = tokens.isEmpty ? nil : Set(tokens.map { $0.lowercased() })
            self.exceptTokens = Set(exceptTokens.map { $0.lowercased() })
            self.channels = channels.isEmpty ? nil : Set(channels)
            self.topics = topics.isEmpty ? nil : Set(topics)
            self.address = address
            self.after = after
            self.until = until
            self.once = once
            self.beyond = beyond
            self.skip = skip
            self.every = every
            self.times = times
        }

        /// Matches the first `count` requests or connections.
        public init(first count: Int) { self.init(times: count) }

        /// Matches this request of each connection, counted from 1.
        public init(number: Int) { self.init(number: number...number) }
    }
}
