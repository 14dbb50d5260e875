internal import Logging

/// Every line that the library logs beside those of conditions (``HealthCondition``), with its level.
/// Docs/Operate/Observability.md lists them, and a test compares.
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
    case connectionFailed = "connection-failed"
    case throttlePaused = "throttle-paused"
    case holding
    case handingOut = "handing-out"

    // info
    case routeStarted = "route-started"
    case routeShuttingDown = "route-shutting-down"
    case engineEnded = "engine-ended"
    case report
    case clockUnproven = "clock-unproven"

    // notice
    case connectionEnded = "connection-ended"
    case reconfigured
    case convicted
    case movedToOtherEnvironment = "moved-to-other-environment"
    case withdrawn
    case rejectionsTrimmed = "rejections-trimmed"
    case connectorNotice = "connector-notice"

    // warning
    case careful
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
    case endsConnections = "ends-connections"
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

    // warning: nothing is wrong with the journal
    case journalLeft = "journal-left"

    // critical
    case journalFailed = "journal-failed"

    var level: Logger.Level {
        switch self {
        case .handedOut, .settled, .committed, .cleared: .trace
        case .connectionOpened, .connectionClosed, .markMoved, .promoted, .identified, .barrierWritten, .laneProbed,
            .connectionFailed, .throttlePaused, .holding, .handingOut:
            .debug
        case .routeStarted, .routeShuttingDown, .engineEnded, .report, .clockUnproven: .info
        case .connectionEnded, .reconfigured, .convicted, .movedToOtherEnvironment, .withdrawn, .rejectionsTrimmed,
            .connectorNotice:
            .notice
        case .careful, .credentialsDoubted, .markNotLowered, .stateNotNoted, .trimFailed, .barrierUnanswered,
            .endUnproven, .listenerSlow, .oldestUnread, .feedbackFailed, .connectorWarning, .noteFailed, .journalLeft:
            .warning
        case .endsConnections, .readFailed, .tokensUnread, .settlementFailed, .promotionFailed, .lateError,
            .impossibleIdentifier, .secondHandOut, .feedbackNotStored, .entryQuarantined, .blacklistUnreadable:
            .error
        case .journalFailed: .critical
        }
    }

    /// Whether the line is limited by ``LogLimiter``, since a lasting failure repeats it. The others come once for an action,
    /// or, at level trace, once for each batch.
    var isLimited: Bool {
        switch self {
        case .handedOut, .settled, .committed, .cleared: false
        case .routeStarted, .routeShuttingDown, .engineEnded, .report, .clockUnproven, .reconfigured, .identified,
            .withdrawn, .journalLeft, .journalFailed, .connectorNotice, .connectorWarning, .endUnproven:
            false
        case .connectionOpened, .connectionClosed, .markMoved, .promoted, .barrierWritten, .laneProbed,
            .connectionEnded, .convicted, .movedToOtherEnvironment, .rejectionsTrimmed, .holding, .handingOut,
            .throttlePaused, .connectionFailed, .careful, .endsConnections, .credentialsDoubted, .markNotLowered,
            .stateNotNoted, .trimFailed, .barrierUnanswered, .listenerSlow, .oldestUnread, .feedbackFailed, .readFailed,
            .tokensUnread, .settlementFailed, .promotionFailed, .lateError, .impossibleIdentifier, .secondHandOut,
            .feedbackNotStored, .noteFailed, .entryQuarantined, .blacklistUnreadable:
            true
        }
    }
}
