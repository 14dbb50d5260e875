internal import Logging

/// Every line that the library logs, with its level. Docs/Operate/Observability.md lists them, and a test compares.
///
/// The levels: trace tells of each batch, debug of connections and marks, info of the engine's life, notice of what an
/// operator will want to find later, warning of trouble that goes by itself, error of what somebody must act upon, and
/// critical of what ends the engine.
enum LogLine: String, CaseIterable, Hashable, Sendable {
    // trace
    case handedOut = "handed-out"
    case settled
    case committed
    case cleared

    // debug
    case connectionOpened = "connection-opened"
    case connectionClosed = "connection-closed"
    case markMoved = "mark-moved"
    case promoted
    case identified
    case barrierWritten = "barrier-written"
    case laneProbed = "lane-probed"

    // info
    case routeStarted = "route-started"
    case routeShuttingDown = "route-shutting-down"
    case engineEnded = "engine-ended"
    case report
    case clockUnproven = "clock-unproven"

    // notice
    case connectionEnded = "connection-ended"
    case lanePaused = "lane-paused"
    case laneResumed = "lane-resumed"
    case topicBack = "topic-back"
    case tagPaused = "tag-paused"
    case tagResumed = "tag-resumed"
    case reconfigured
    case convicted
    case movedToOtherEnvironment = "moved-to-other-environment"
    case withdrawn
    case rejectionsTrimmed = "rejections-trimmed"
    case holding
    case handingOut = "handing-out"
    case throttleEnded = "throttle-ended"
    case connectorNotice = "connector-notice"

    // warning
    case connectionFailed = "connection-failed"
    case careful
    case throttled
    case clockDistrusted = "clock-distrusted"
    case credentialsDoubted = "credentials-doubted"
    case markNotLowered = "mark-not-lowered"
    case stateNotNoted = "state-not-noted"
    case trimFailed = "trim-failed"
    case barrierUnanswered = "barrier-unanswered"
    case endUnproven = "end-unproven"
    case listenerSlow = "listener-slow"
    case oldestUnread = "oldest-unread"
    case feedbackFailed = "feedback-failed"
    case connectorWarning = "connector-warning"
    case noteFailed = "note-failed"

    // error
    case connectionMisconfigured = "connection-misconfigured"
    case laneStopped = "lane-stopped"
    case topicSetAside = "topic-set-aside"
    case endsConnections = "ends-connections"
    case parked
    case readFailed = "read-failed"
    case tokensUnread = "tokens-unread"
    case settlementFailed = "settlement-failed"
    case promotionFailed = "promotion-failed"
    case lateError = "late-error"
    case impossibleIdentifier = "impossible-identifier"
    case secondHandOut = "second-hand-out"
    case feedbackNotStored = "feedback-not-stored"
    case entryQuarantined = "entry-quarantined"
    case blacklistUnreadable = "blacklist-unreadable"
    case entriesUnreachable = "entries-unreachable"
    case blacklistDamaged = "blacklist-damaged"
    case historyDamaged = "history-damaged"

    // critical
    case journalFailed = "journal-failed"

    var level: Logger.Level {
        switch self {
        case .handedOut, .settled, .committed, .cleared: .trace
        case .connectionOpened, .connectionClosed, .markMoved, .promoted, .identified, .barrierWritten, .laneProbed:
            .debug
        case .routeStarted, .routeShuttingDown, .engineEnded, .report, .clockUnproven: .info
        case .connectionEnded, .lanePaused, .laneResumed, .topicBack, .tagPaused, .tagResumed, .reconfigured,
            .convicted,
            .movedToOtherEnvironment,
            .withdrawn, .rejectionsTrimmed,
            .holding,
            .handingOut, .throttleEnded, .connectorNotice:
            .notice
        case .connectionFailed, .careful, .throttled, .clockDistrusted, .credentialsDoubted, .markNotLowered,
            .stateNotNoted,
            .trimFailed, .barrierUnanswered, .endUnproven, .listenerSlow, .oldestUnread, .feedbackFailed,
            .connectorWarning,
            .noteFailed:
            .warning
        case .connectionMisconfigured, .laneStopped, .topicSetAside, .endsConnections, .parked, .readFailed,
            .tokensUnread, .settlementFailed,
            .promotionFailed, .lateError, .impossibleIdentifier, .secondHandOut, .feedbackNotStored,
            .entryQuarantined, .blacklistUnreadable, .entriesUnreachable, .blacklistDamaged, .historyDamaged:
            .error
        case .journalFailed: .critical
        }
    }

    /// Whether the line is limited by ``LogLimiter``, since a lasting failure repeats it. The others come once for an action,
    /// or, at level trace, once for each batch.
    var isLimited: Bool {
        switch self {
        case .handedOut, .settled, .committed, .cleared: false
        case .routeStarted, .routeShuttingDown, .engineEnded, .report, .clockUnproven, .reconfigured, .lanePaused,
            .laneResumed, .laneStopped, .topicSetAside, .topicBack, .tagPaused, .tagResumed,
            .identified, .withdrawn, .journalFailed, .connectorNotice, .connectorWarning, .endUnproven:
            false
        case .connectionOpened, .connectionClosed, .markMoved, .promoted, .barrierWritten, .laneProbed,
            .connectionEnded, .convicted, .movedToOtherEnvironment, .rejectionsTrimmed, .holding, .handingOut,
            .throttled, .throttleEnded,
            .connectionFailed, .careful, .endsConnections, .clockDistrusted, .credentialsDoubted, .markNotLowered,
            .stateNotNoted, .trimFailed,
            .barrierUnanswered, .listenerSlow, .oldestUnread, .feedbackFailed,
            .connectionMisconfigured,
            .parked, .readFailed, .tokensUnread, .settlementFailed, .promotionFailed, .lateError, .impossibleIdentifier,
            .secondHandOut, .feedbackNotStored, .noteFailed, .entryQuarantined,
            .blacklistUnreadable, .entriesUnreachable, .blacklistDamaged, .historyDamaged:
            true
        }
    }
}
