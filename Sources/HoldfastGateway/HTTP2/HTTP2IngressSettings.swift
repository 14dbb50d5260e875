internal import Holdfast
internal import HoldfastHTTP2

/// The settings that the connections of a listener share. Replaced as a whole when a configuration is taken up.
struct HTTP2IngressSettings: Sendable {
    let limits: ListenerLimits
    let streams: Int
    /// Seconds.
    let retryAfter: Int
    let unstoredLifetime: Duration
    /// For requests that do not say it: nil for an answer in Apple's form when it is on disk.
    let answering: AnswerMode?
    var access: SubmitterAccess
    let environments: HostEnvironments
    /// The topic of requests without one; nil where there is no telling.
    let onlyTopic: String?
    /// Whether the traces are read that requests belong to.
    let isTraced: Bool

    init(
        _ configuration: HTTP2IngressConfiguration, access: SubmitterAccess, producer: Producer, isTraced: Bool = false
    ) {
        self.isTraced = isTraced
        limits = configuration.limits
        streams = max(configuration.streams, 1)
        retryAfter = max(Int(configuration.retryAfter.components.seconds), 1)
        unstoredLifetime = configuration.unstoredLifetime
        answering = configuration.answerWait.map { .wait(min($0, AnswerMode.longestWait)) }
        environments = HostEnvironments(configuration.hosts)
        self.access = access
        onlyTopic = producer.onlyTopic
    }

    /// Seconds after which a connection may show other provider tokens again, at most: as often as it is swept.
    var tokenInterval: Int { max(Int((limits.write / .seconds(1)).rounded(.up)), 1) }

    /// The greatest body there is, by far: of Google's messages, whose 4096 bytes may be written with three times as many, and
    /// of requests for access tokens. Of a longer one no more is kept.
    static let greatestBody = 16 << 10

    /// The limits of incomplete requests, each at its greatest in a sender that opens all its streams before it ends
    /// one.
    var sessionLimits: HTTP2Limits {
        var limits = HTTP2Limits.server
        limits.maxConcurrentStreams = streams
        limits.maxBodySize = Self.greatestBody
        limits.maxIncoming = max(1 << 20, streams * 8192)
        limits.connectionReceiveWindow = 4 << 20
        limits.maxQueuedOutput = 1 << 20
        return limits
    }
}
