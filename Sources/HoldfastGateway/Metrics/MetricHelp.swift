/// A line of help for each metric, for readers without the documentation at hand.
public enum MetricHelp {
    /// The help of a metric that the application added.
    static let unknown = "See the application's own documentation."

    /// The help of the library's metrics, by name; Docs/Operate/Observability.md says more about each, and a test
    /// compares the names.
    public static let standard: [String: String] = [
        "holdfast_submitted_total":
            "Notifications that were accepted, and are on disk.",
        "holdfast_refused_total":
            "Refusals by submit; a notification that is submitted again counts again.",
        "holdfast_sent_total":
            "Hand-outs to a connection; one that goes again counts again.",
        "holdfast_possible_duplicates_total":
            "Hand-outs of which an earlier attempt may have been taken.",
        "holdfast_confirmed_total":
            "Notifications that the service has taken.",
        "holdfast_recalled_total":
            "Notifications that silence confirmed, and a late error denied in time: they went again, or were rejected.",
        "holdfast_wrongly_confirmed_total":
            "Notifications that silence confirmed, and a late error denied when nothing of them was kept: lost.",
        "holdfast_rejected_total":
            "Notifications that were refused for good.",
        "holdfast_expired_total":
            "Notifications that were over before they were sent.",
        "holdfast_unknown_total":
            "Notifications that were possibly sent, and never will be again.",
        "holdfast_withdrawn_total":
            "Notifications that were taken back before they were sent.",
        "holdfast_superseded_total":
            "Notifications whose place a newer one took before they were sent.",
        "holdfast_moved_total":
            "Notifications that are tried in the other environment of their topic, by the route that they leave.",
        "holdfast_deferred_total":
            "Times that a notification was answered not now, or with nothing known.",
        "holdfast_requeued_total":
            "Times that a notification went back into its lane, unharmed.",
        "holdfast_connections_failed_total":
            "Attempts to connect that failed; configuration means that somebody must act.",
        "holdfast_connections_closed_total":
            "Connections that ended; asked is yes for an end of ours.",
        "holdfast_journal_depth":
            "Unconfirmed notifications, deferred ones included.",
        "holdfast_journal_oldest_age_seconds":
            "Since the first notification that waits was accepted; 0 for none.",
        "holdfast_journal_used_bytes":
            "Bytes in use by the journal.",
        "holdfast_in_flight":
            "Notifications handed out and not yet durably settled.",
        "holdfast_suspects":
            "Notifications whose token was called bad and is not judged yet.",
        "holdfast_aside_entries":
            "Notifications that silence has confirmed, kept while a late error may deny them.",
        "holdfast_scheduled_entries":
            "Unconfirmed notifications that wait for the time from which they may be delivered.",
        "holdfast_tag_held_entries":
            "Unconfirmed notifications that wait because an operator has paused their tag.",
        "holdfast_blacklist_damaged_places":
            "Places at which the blacklist is damaged: notifications to tokens on it may be sent.",
        "holdfast_quarantined_entries":
            "Notifications whose records can't be read, moved aside for somebody to look at.",
        "holdfast_connections":
            "Connections to the push service that take hand-outs.",
        "holdfast_outcomes_waiting":
            "Outcomes that wait to be taken.",
        "holdfast_commit_duration_seconds":
            "From taking up what waited until it was on disk.",
        "holdfast_sync_duration_seconds":
            "Of a commit: writing its pages and waiting until the disk has them.",
        "holdfast_send_duration_seconds":
            "From hand-out to answer, of each notification.",
        "holdfast_delivery_duration_seconds":
            "From acceptance, or the time to deliver, to confirmation, of each notification.",
        "holdfast_stops_total":
            "Times that a lane stopped by itself or a topic was set aside, by the kind of condition.",
        "holdfast_journal_limit_bytes":
            "Bytes in use beyond which the journal takes nothing more.",
        "holdfast_in_flight_limit":
            "The window: notifications that may be in flight.",
        "holdfast_connections_limit":
            "Connections to the push service that the route may have.",
        "holdfast_throttled":
            "1 while the push service throttles the route, or is unavailable.",
        "holdfast_throttle_notifications_per_second":
            "The rate that a throttling service was measured to grant; 0 while there is none.",
        "holdfast_commit_entries":
            "Notifications appended by a commit, where there were any.",
        "holdfast_commit_settlements":
            "Settlements of a commit, where there were any.",
        "holdfast_commit_bytes":
            "Bytes of what a commit appended, about.",
        "holdfast_connections_opened_total":
            "Connections to the push service that came about.",
        "holdfast_lane_state":
            "0 running, 1 paused by an operator, 2 stopped.",
        "holdfast_holding":
            "1 while the route hands out nothing for this reason.",
        "holdfast_blacklist_entries":
            "Tokens that are not sent to.",
    ]
}
