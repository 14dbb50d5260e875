/// One thing that has happened on a route. Log line, event, metric and status are made of this value, and of nothing else.
enum RouteNews: Sendable {
    // MARK: The route

    case started(endpoint: String, waiting: Int)
    case shuttingDown(inFlight: Int)
    /// The route hands out nothing for this reason; nil when it does again.
    case holding(HoldReason?)
    /// The service wants no new provider tokens, so nothing is sent for a while.
    case parked(for: Duration)
    case throttled(EngineStatus.Throttle, wait: Duration)
    case throttleEnded
    case clock(WallClockGuard.Remark)
    case report(PeriodReport)

    // MARK: Connections

    case connecting
    case connected(Int, endpoint: String)
    /// - `isOnly`: whether no other connection takes hand-outs.
    case connectFailed(ConnectError, endpoint: String, wait: Duration, isOnly: Bool)
    /// - `cause` is nil for an end that was asked for. `isExpected`: whether the route shuts down.
    case disconnected(Int, endpoint: String, cause: String?, isExpected: Bool)
    /// A connection ends that was given notifications and has answered none; told ahead of ``disconnected``.
    case endsSilent(Int, cause: String)
    /// No connection takes hand-outs any more.
    case unconnected(cause: String?)
    case barrierWritten(Int)
    case barrierUnanswered(Int, limit: Duration)
    /// The route ends, and no answer proves what silence has confirmed.
    case endUnproven(Int)
    /// Connections have ended with the same entry unanswered.
    case careful(UID, ends: Int, cause: String?)

    // MARK: Lanes

    case laneChanged(LaneKey, LaneState)
    case laneProbed(LaneKey, UID)
    case markMoved(LaneKey, to: UID)
    case promoted(LaneKey, [UID])
    case unreachable(LaneKey, Int)
    /// - `kind` is the kind of the condition that begins.
    case topicSetAside(String, because: String, kind: HealthCondition.Kind)
    case topicBack(String)

    // MARK: Entries

    case handedOut(LaneKey, first: UID, last: UID, count: Int, connection: Int, possibleDuplicates: Int)
    /// Decided, and not on disk yet.
    case settling(SettlementCounts)
    case settled(SettlementReport, connection: Int)
    case cleared(LaneKey, count: Int, through: UID, by: ConfirmationBasis)
    case withdrawn(Withdrawal)
    case convicted(LaneKey, Int)
    /// Entries go from this lane to the other environment.
    case moved(LaneKey, Int)
    case identified(UID, String)
    /// An answer, by its status and what else is known of it, is not the service's.
    case foreignAnswer(String)
    case endsConnections(LaneKey, UID, ends: Int, nextTrial: WallTime?, wait: Duration?)
    case lateError(recalled: Int, lost: Int)
    case impossibleIdentifier
    case secondHandOut(LaneKey, Int)
    case quarantined(LaneKey, UID, RecordFault)
    case credentialsDoubted(String)
    case blacklistUnreadable(Recipient, RecordFault)
    case trimmed(rejections: Int)

    // MARK: What could not be done

    case failed(Attempt, JournalError)
    /// The age of a lane's first entry is not known.
    case oldestUnread(String)
    /// The route ends, since the journal can't be used any more.
    case journalLost(JournalError)
    /// The route ends, since the journal can't be read. It can be written, so answers to entries in flight are awaited first.
    case journalUnreadable(JournalError, inFlight: Int)

    /// Something that the journal could not do. All but the notes are tried again.
    enum Attempt: Sendable {
        case reading
        case readingTokens
        case settling
        case quarantining
        case promoting
        case loweringMark
        case trimming
        case notingState(LaneKey)
        case keepingProvenTopics
        case readingProvenTopics

        /// Whether the journal was to be written.
        var isWrite: Bool {
            switch self {
            case .settling, .quarantining, .promoting, .loweringMark, .trimming, .notingState, .keepingProvenTopics:
                true
            case .reading, .readingTokens, .readingProvenTopics: false
            }
        }
    }

    /// Whether the service has answered as it does only to whom it knows: it took something, or refused it for another reason.
    var showsTakenCredentials: Bool {
        switch self {
        case .settling(let counts): counts.confirmed > 0 || !counts.rejected.isEmpty
        case .throttled, .topicSetAside: true
        default: false
        }
    }
}
