/// Decides when the probes of topics that are set aside let others go first.
///
/// A probe may be refused, or get no answer, at the cost of others. So none goes while a throttled route has but one request, and none
/// of a silent or refused topic on a connection on which nothing was taken yet, if anything else is left to read. While connections
/// are scarce none goes at all, since some services end one with each refusal. Each of these has its bound.
///
/// A pure machine.
struct ProbeYielding: Sendable {
    /// The state of a route that matters here.
    struct Look: Sendable {
        /// See ``ConnectionPool/isScarce(now:)``.
        let isScarce: Bool
        let hasProbeOut: Bool
        /// Whether a throttled route has but one request, which is next.
        let isToProbe: Bool
        /// Whether nothing was taken yet on any connection that has room.
        let isNothingProven: Bool
        /// Whether a lane that runs has something to read.
        let isLeft: Bool
    }

    /// How long no topic's probe goes at the longest because connections are scarce.
    static let scarcity = Duration.seconds(60)
    /// So long connections may be plenty meanwhile.
    static let scarcityGap = Duration.seconds(20)
    /// How long none goes because there is more to read, where nothing of that goes.
    static let reading = Duration.seconds(5)

    /// Whether no probe goes.
    private(set) var yields = false
    /// Whether none goes that may cost others the connection.
    private(set) var yieldsConnection = false
    /// Since when probes wait for connections to be plenty.
    private var scarceSince: Duration?
    /// When connections were scarce last.
    private var scarceAt: Duration?
    private var readingSince: Duration?

    mutating func look(_ look: Look, now: Duration) {
        noteScarcity(look, now: now)
        let isScarce = look.isScarce && scarceSince.map { now < $0 + Self.scarcity } ?? false
        readingSince = look.isLeft && (look.isToProbe || look.isNothingProven) ? readingSince ?? now : nil
        let isMoreToRead = readingSince.map { now < $0 + Self.reading } ?? false
        yields = isScarce || look.isToProbe && isMoreToRead
        yieldsConnection = look.isNothingProven && isMoreToRead
    }

    /// Connections are scarce also while one is allowed now and then. When a probe goes, the wait begins anew.
    private mutating func noteScarcity(_ look: Look, now: Duration) {
        if look.hasProbeOut { scarceSince = nil }
        guard look.isScarce else { return }
        if scarceAt.map({ now - $0 > Self.scarcityGap }) ?? true { scarceSince = nil }
        (scarceSince, scarceAt) = (scarceSince ?? now, now)
    }

    /// An operator's word: probes do not wait for connections to be plenty, until one has gone.
    mutating func hurry(now: Duration) { (scarceSince, scarceAt) = (now - Self.scarcity, now) }

    /// Something went out.
    mutating func handedOut() { readingSince = nil }

    /// No topic is set aside.
    mutating func forget() { (scarceSince, readingSince) = (nil, nil) }

    /// When probes that wait for connections to be plenty may go.
    ///
    /// - Parameter plenty: when connections are plenty; nil where they always are.
    func end(plenty: Duration?, now: Duration) -> Duration? {
        guard yields, let plenty, let scarceSince else { return nil }
        let end = min(plenty, scarceSince + Self.scarcity)
        return end > now ? end : nil
    }
}
