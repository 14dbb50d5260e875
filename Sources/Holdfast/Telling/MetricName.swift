/// Every metric of the library. Docs/Operate/Observability.md lists them, and a test compares.
enum MetricName: String, CaseIterable, Sendable {
    // Counters
    case submitted = "holdfast_submitted_total"
    case refused = "holdfast_refused_total"
    case sent = "holdfast_sent_total"
    case possibleDuplicates = "holdfast_possible_duplicates_total"
    case confirmed = "holdfast_confirmed_total"
    case recalled = "holdfast_recalled_total"
    case wronglyConfirmed = "holdfast_wrongly_confirmed_total"
    case rejected = "holdfast_rejected_total"
    case expired = "holdfast_expired_total"
    case unknown = "holdfast_unknown_total"
    case withdrawn = "holdfast_withdrawn_total"
    case superseded = "holdfast_superseded_total"
    case moved = "holdfast_moved_total"
    case deferred = "holdfast_deferred_total"
    case requeued = "holdfast_requeued_total"
    case connectionsOpened = "holdfast_connections_opened_total"
    case connectionsFailed = "holdfast_connections_failed_total"
    case connectionsClosed = "holdfast_connections_closed_total"
    case stops = "holdfast_stops_total"

    // Meters
    case depth = "holdfast_journal_depth"
    case oldestAge = "holdfast_journal_oldest_age_seconds"
    case usedBytes = "holdfast_journal_used_bytes"
    case limitBytes = "holdfast_journal_limit_bytes"
    case inFlight = "holdfast_in_flight"
    case inFlightLimit = "holdfast_in_flight_limit"
    case suspects = "holdfast_suspects"
    case connections = "holdfast_connections"
    case connectionLimit = "holdfast_connections_limit"
    case throttled = "holdfast_throttled"
    case grantedRate = "holdfast_throttle_notifications_per_second"
    case laneState = "holdfast_lane_state"
    case holding = "holdfast_holding"
    case outcomes = "holdfast_outcomes_waiting"
    case blacklist = "holdfast_blacklist_entries"
    case blacklistDamage = "holdfast_blacklist_damaged_places"
    case quarantined = "holdfast_quarantined_entries"
    case aside = "holdfast_aside_entries"
    case scheduled = "holdfast_scheduled_entries"
    case heldByTag = "holdfast_tag_held_entries"

    // Timers
    case commitTime = "holdfast_commit_duration_seconds"
    case syncTime = "holdfast_sync_duration_seconds"

    // Histograms by count
    case answerTime = "holdfast_send_duration_seconds"
    case deliveryTime = "holdfast_delivery_duration_seconds"

    // Recorders
    case commitEntries = "holdfast_commit_entries"
    case commitSettlements = "holdfast_commit_settlements"
    case commitBytes = "holdfast_commit_bytes"

    /// As swift-metrics calls it. A timer of ``Latencies`` is a ``HistogramFactory``'s histogram where there is one.
    enum Kind: String, Sendable {
        case counter, meter, timer, recorder
    }

    var kind: Kind {
        switch self {
        case .submitted, .refused, .sent, .possibleDuplicates, .confirmed, .recalled, .wronglyConfirmed, .rejected,
            .expired, .unknown, .withdrawn, .superseded, .moved, .deferred, .requeued, .connectionsOpened,
            .connectionsFailed, .connectionsClosed, .stops:
            .counter
        case .depth, .oldestAge, .usedBytes, .limitBytes, .inFlight, .inFlightLimit, .suspects, .connections,
            .connectionLimit, .throttled, .grantedRate, .laneState, .holding, .outcomes, .blacklist, .blacklistDamage,
            .quarantined, .aside, .scheduled, .heldByTag:
            .meter
        case .commitTime, .syncTime, .answerTime, .deliveryTime: .timer
        case .commitEntries, .commitSettlements, .commitBytes: .recorder
        }
    }

    /// The names of its labels.
    var labels: [String] {
        switch self {
        case .submitted, .usedBytes, .limitBytes, .outcomes, .blacklist, .blacklistDamage, .quarantined, .aside,
            .scheduled,
            .heldByTag, .commitTime, .syncTime, .commitEntries, .commitSettlements, .commitBytes:
            []
        case .refused: ["reason"]
        case .sent, .possibleDuplicates, .recalled, .wronglyConfirmed, .expired, .unknown, .withdrawn, .superseded,
            .moved, .deferred, .requeued, .connectionsOpened, .inFlight, .inFlightLimit, .suspects, .connections,
            .connectionLimit, .throttled, .grantedRate, .answerTime, .deliveryTime:
            ["route"]
        case .confirmed: ["route", "by"]
        case .rejected, .holding: ["route", "reason"]
        case .connectionsFailed: ["route", "kind"]
        case .stops: ["route", "cause"]
        case .connectionsClosed: ["route", "asked"]
        case .depth, .oldestAge, .laneState: ["route", "lane"]
        }
    }
}
