/// What a ``MockAPNsServer`` does that a well-behaved service does not: steps, each with a condition.
///
/// For each request, and for each connection as it arrives, the first step that fits decides; where none fits, all goes its
/// normal way. `holdfast mock http2 --script` reads one from YAML: Docs/Guide/MockService.md.
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
    /// In the order in which they are asked.
    public var steps: [Step]

    public init(_ steps: [Step]) { self.steps = steps }

    public init(arrayLiteral steps: Step...) { self.init(steps) }

    /// What is done with those that fit.
    public struct Step: Sendable {
        public enum Action: Sendable {
            /// With a request.
            case answer(MockAnswer)
            /// With a connection, decided when it arrives.
            case connect(MockConnectionPlan)
        }

        /// For people, and for ``MockAPNsServer/scriptCounts``. Default: `step 3`, say.
        public var name: String?
        public var match: Match
        public var action: Action

        public init(name: String? = nil, _ match: Match, _ action: Action) {
            self.name = name
            self.match = match
            self.action = action
        }

        public init(name: String? = nil, _ action: Action) { self.init(name: name, Match(), action) }

        public static func request(_ match: Match, _ answer: MockAnswer, name: String? = nil) -> Step {
            Step(name: name, match, .answer(answer))
        }

        /// Each request.
        public static func request(_ answer: MockAnswer, name: String? = nil) -> Step {
            Step(name: name, .answer(answer))
        }

        public static func connection(_ match: Match, _ plan: MockConnectionPlan, name: String? = nil) -> Step {
            Step(name: name, match, .connect(plan))
        }

        /// Each connection.
        public static func connection(_ plan: MockConnectionPlan, name: String? = nil) -> Step {
            Step(name: name, .connect(plan))
        }
    }
}

extension MockScript {
    /// Which requests, or connections, a step is for: those that meet all of its conditions. A condition that asks about a
    /// request is not met by a connection.
    public struct Match: Sendable {
        /// What is looked at once only: a step that fitted one of these fits no other like it.
        public enum Once: String, Sendable, CaseIterable {
            /// Once for each connection.
            case connection
            /// Once for each device token.
            case token
            /// Once for each broadcast channel.
            case channel
        }

        /// Counted from 1 over the server's life: requests, or connections where the step is for those.
        public var count: ClosedRange<Int>?
        /// Requests, counted from 1 on each connection.
        public var number: ClosedRange<Int>?
        /// Connections, counted from 1 over the server's life, whichever address they came to.
        public var connections: ClosedRange<Int>?
        /// Device tokens, in hex of either case.
        public var tokens: Set<String>?
        /// Device tokens that it is not for, in hex of either case.
        public var exceptTokens: Set<String> = []
        /// Broadcast channels.
        public var channels: Set<String>?
        /// Topics; of a broadcast, and of what is done about channels, the bundle id in the path.
        public var topics: Set<String>?
        /// What the client connected to: `127.0.0.2`, or with a port `127.0.0.2:2197` or `[::1]:2197`; `management` is where
        /// channels are managed.
        public var address: String?
        /// Not before this time since the server was started.
        public var after: Duration?
        /// Not at or after this time since the server was started.
        public var until: Duration?
        public var once: Once?
        /// Of those that meet everything above, passes over the first so many of each second since the server was started: with
        /// an answer that refuses, a quota.
        public var beyond: Int?
        /// Of those that meet everything above, passes over so many,
        public var skip: Int
        /// then takes each so-manieth, beginning with that one and not with the first,
        public var every: Int
        /// and so many at most. Default: any number.
        public var times: Int?

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

        /// The first so many of all.
        public init(first count: Int) { self.init(times: count) }

        /// The so-manieth request of each connection.
        public init(number: Int) { self.init(number: number...number) }
    }
}
