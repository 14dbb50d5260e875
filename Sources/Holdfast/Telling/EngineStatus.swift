/// A snapshot of the engine. Unless it says otherwise, a count is of this process.
public struct EngineStatus: Sendable {
    /// The state of a route's connections. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum ConnectionState: Sendable {
        /// Nothing to send so far, or the last connection was closed in an orderly way.
        case idle
        /// The first attempt since the route was idle is in progress.
        case connecting
        /// At least one connection takes hand-outs.
        case connected
        /// The last attempt failed, or the last connection ended. The route retries with backoff, and stays in this state until
        /// it has a connection.
        case waiting(ConnectError)
    }

    /// The throttling of a route by its service.
    public struct Throttle: Hashable, Sendable, CustomStringConvertible {
        /// When the throttling began.
        public let since: WallTime
        /// The status of the last refusal; `nil` if it had none.
        public internal(set) var status: Int?
        /// The reason of the last refusal; `nil` if it had none.
        public internal(set) var reason: Reason?
        /// The rate that the service was measured to grant, in notifications a second; `nil` while unknown.
        public internal(set) var perSecond: Double?
        /// When one request shows whether the service takes notifications again; `nil` while nothing waits for that time.
        public internal(set) var nextProbeAt: WallTime?
        /// The topics that the refusals are of, where that is no accident; empty where they may be of any.
        public internal(set) var topics: [String] = []

        /// The status, the reason, the start, the measured rate, the next try and the topics, for operators.
        public var description: String {
            let words = [status.map { "\($0)" }, reason?.words].compactMap { $0 }
            let cause = words.isEmpty ? "" : " (\(words.joined(separator: " ")))"
            let rate = perSecond.map { $0 < 10 ? "\(Double(Int($0 * 10)) / 10)" : "\(Int($0))" }
            let pace = rate.map { ", at \($0) a second now" } ?? ""
            let next = nextProbeAt.map { ", next try at \(Timestamp.format($0))" } ?? ""
            return "throttled by the service\(cause) since \(Timestamp.format(since))\(pace)\(next)\(blame)"
        }

        private var blame: String {
            guard let first = topics.first else { return "" }
            let more = topics.count > 1 ? " and \(topics.count - 1) more" : ""
            return "; what it refuses is of topic \(first)\(more), and others wait with it"
        }
    }

    /// A pause of a route, because the service says that its provider token changes too often.
    public struct Parking: Hashable, Sendable, CustomStringConvertible {
        /// The service's reason.
        public let reason: Reason
        /// When the route was parked.
        public let since: WallTime
        /// When the route sends again by itself.
        public let until: WallTime

        /// The reason, both times and the way out, for operators.
        public var description: String {
            "parked since \(Timestamp.format(since)), because the service wants no new provider tokens (\(reason): does "
                + "another process use the same key?); nothing is sent until \(Timestamp.format(until)), or until a lane of "
                + "the route is resumed or its credentials are reloaded"
        }
    }

    /// One lane that the engine serves.
    public struct Lane: Sendable {
        /// The lane's route, urgency and guarantee.
        public let key: LaneKey
        /// Whether the lane runs.
        public let state: LaneState
        /// Unconfirmed entries, deferred ones included.
        public let backlog: Int
        /// When the oldest entry was accepted, without deferred ones; `nil` if there is none, or it is not known yet. Measured
        /// every ``EngineConfiguration/measureInterval``.
        public internal(set) var oldestAcceptedAt: WallTime?
        /// When a lane that stopped by itself sends its next probe; `nil` for one that runs or is paused, and for one that
        /// waits for a connection or an entry.
        public internal(set) var nextProbeAt: WallTime?
        /// Entries of the backlog that cannot be found, because a page of the journal that leads to them is damaged.
        public internal(set) var unreachable = 0
        /// Whether the lane has stopped by itself, and has yet to send its first probe.
        package internal(set) var isYetToBeProbed = false
        /// Why the lane does not run: `paused` with the operator's reason, or the cause of its stop. `nil` while it runs.
        public var stoppedBecause: String? { state.standsStillBecause }
    }

    /// A topic that the service refuses on a route. Its entries wait, and all others are sent.
    public struct Topic: Hashable, Sendable {
        /// The topic, as submitted.
        public let topic: String
        /// The service's reason, for operators.
        public let reason: String
        /// When it was set aside.
        public let since: WallTime
        /// When the next probe is sent; `nil` while one is in flight or the next to go, and if no entry waits.
        public internal(set) var nextProbeAt: WallTime?
        /// The number of entries that wait for it; `nil` where they are not counted. ``OperatorDesk/status()`` counts them.
        public package(set) var waiting: Int?
        /// Why it was set aside.
        package let cause: Cause
        /// Where its entries wait: in each lane, their due times.
        package internal(set) var places: [LaneID: [WallTime]] = [:]

        /// Why a topic is set aside.
        package enum Cause: Hashable, Sendable {
            /// The service refuses the topic.
            case topic
            /// The service calls the topic's tokens bad.
            case tokens
            /// The service leaves its requests unanswered.
            case silence
            /// The service refuses its requests for now, and takes others.
            case refusals
            /// Something else than the service answers its requests, and the service those of others.
            case server
        }

        package init(
            topic: String, reason: String, since: WallTime, nextProbeAt: WallTime?, cause: Cause = .topic
        ) {
            self.cause = cause
            self.topic = topic
            self.reason = reason
            self.since = since
            self.nextProbeAt = nextProbeAt
        }
    }

    /// A journal of a lost host that the process has taken over, beside its own.
    package struct TakenOver: Hashable, Sendable {
        /// The journal's name.
        package var name: String
        /// Its entries without a terminal outcome.
        package var unconfirmed: Int

        package init(name: String, unconfirmed: Int) { (self.name, self.unconfirmed) = (name, unconfirmed) }
    }

    /// Notifications accepted.
    public internal(set) var submitted = 0
    /// Refusals by `submit`; a notification that is submitted again and refused again counts again.
    public internal(set) var refused = 0
    /// Hand-outs to a connection; an entry that is sent again counts again.
    public internal(set) var handedOut = 0
    /// Hand-outs prevented because the entry was in flight already. Anything but 0 is a bug of the engine.
    public internal(set) var secondHandOuts = 0
    /// Entries confirmed in this process, by an answer, a barrier or silence.
    public internal(set) var confirmed = 0
    /// Of ``confirmed``: by the answer to a barrier.
    public internal(set) var confirmedByBarrier = 0
    /// Of ``confirmed``: by silence alone.
    public internal(set) var confirmedByQuiet = 0
    /// Entries whose confirmation by silence a late error revoked in time. They were sent again, or rejected if the error was
    /// about them. Not among ``confirmed``.
    public internal(set) var recalled = 0
    /// Of ``confirmedByQuiet``: entries that the service did not take, as an error showed that came too late to recall them.
    /// They are lost.
    public internal(set) var wronglyConfirmed = 0
    /// Entries refused for good, by reason.
    public internal(set) var rejected: [Reason: Int] = [:]
    /// Entries that expired before they could be sent.
    public internal(set) var expired = 0
    /// Entries that may have been sent and are not sent again.
    public internal(set) var unknown = 0
    /// Entries taken back before they were sent. (One that may have been sent is ``unknown``.)
    public internal(set) var withdrawn = 0
    /// Entries whose place a newer one took before they were sent. (One that may have been sent is ``unknown``.)
    public internal(set) var superseded = 0
    /// Entries that were put off to be tried in the other environment of their topic.
    public internal(set) var moved = 0
    /// Attempts that were answered "not now", or whose result is unknown.
    public internal(set) var deferrals = 0
    /// Times that an entry returned to its lane without an attempt counted.
    public internal(set) var requeued = 0
    /// Attempts that followed one which the service may have taken.
    public internal(set) var possibleDuplicates = 0
    /// Entries handed to a connection and not yet durably settled.
    public internal(set) var inFlight = 0
    /// Of ``inFlight``: entries whose token the service called bad, and that are not decided yet.
    public internal(set) var suspects = 0
    /// Routes that hand out nothing for now, by name, with the reason.
    public internal(set) var holding: [String: HoldReason] = [:]
    /// Routes whose service throttles or is unavailable, by name.
    public internal(set) var throttled: [String: Throttle] = [:]
    /// Routes that are parked, by name.
    public internal(set) var parked: [String: Parking] = [:]
    /// Outcomes that wait to be taken.
    public internal(set) var outcomes = 0
    /// Entries of the whole journal in quarantine: their records cannot be read, and they are neither unconfirmed nor ended.
    public internal(set) var quarantined = 0
    /// Places where the blacklist is damaged. Anything but 0 means that notifications to blacklisted tokens may be sent, until
    /// the journal is repaired.
    public internal(set) var blacklistDamage = 0
    /// Outcomes of the history that were met and can't be read. Anything but 0 is damage of the journal; no notification is
    /// affected by it.
    public internal(set) var unreadableOutcomes = 0
    /// Entries of the whole journal that silence has confirmed, kept in case a late error revokes that.
    public internal(set) var aside = 0
    /// Unconfirmed entries of the whole journal that wait for the time from which they may be delivered.
    public internal(set) var scheduled = 0
    /// Unconfirmed entries of the whole journal that a pause of their tag holds, without those that are not read yet.
    public internal(set) var heldByTag = 0
    /// Events dropped because a listener was too slow.
    public internal(set) var eventsDropped = 0
    /// The lanes that the engine serves.
    public internal(set) var lanes: [Lane] = []
    /// Topics that the service refuses, by name of the route; without routes that have none.
    public internal(set) var topicsSetAside: [String: [Topic]] = [:]
    /// What is wrong, the worst first, and what operators hold up. None that is more than a notice means that all is well.
    public internal(set) var conditions: [HealthCondition] = []
    /// The state of the connections, by name of the route.
    public internal(set) var connections: [String: ConnectionState] = [:]

    /// Entries that have ended. Like its summands it counts decisions: the commit that makes them durable, and puts the outcomes
    /// into the log, follows.
    public var settled: Int { confirmed + rejected.values.reduce(0, +) + expired + unknown + withdrawn + superseded }
    /// The sum of ``rejected`` over all reasons.
    public var rejectedTotal: Int { rejected.values.reduce(0, +) }
    /// Unconfirmed entries of the engine's lanes.
    public var unconfirmed: Int { lanes.reduce(0) { $0 + $1.backlog } }
    /// Of ``unconfirmed``: entries that cannot be found. Anything but 0 is damage of the journal, which must be repaired.
    public var unreachable: Int { lanes.reduce(0) { $0 + $1.unreachable } }
}

/// Why the engine has nothing to do. More cases may come.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum EngineRest: Hashable, Sendable {
    /// Every entry has ended.
    case drained
    /// The remaining entries wait in stopped or paused lanes, for topics that are set aside, or for a time from which they may
    /// be delivered, which is more than a minute ahead; with the reason of the first.
    ///
    /// A stopped lane has sent a probe since, unless no connection can be made. Of a topic, each waiting entry was tried, or
    /// so many that it is not likely to recover by itself.
    case stopped(String)
    /// The journal is damaged: the remaining entries of a lane cannot be found, or blacklisted tokens may be missed. The text
    /// says how many, and what to do. All other entries have ended or are stopped.
    case damaged(String)
    /// The engine is not running any more.
    case ended
}

extension EngineRest {
    /// The message about entries that the journal counts, and that cannot be found.
    static func unreachableWords(_ count: Int, of key: LaneKey) -> String {
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        return "the journal is damaged: \(entries) of \(key) cannot be reached. `holdfast journal verify` says what "
            + "is damaged; with `--salvage NEW` it copies what is sound into a new journal"
    }
}
