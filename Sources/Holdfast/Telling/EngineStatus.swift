/// The engine in figures, as of one moment.
public struct EngineStatus: Sendable {
    public enum ConnectionState: Sendable {
        /// Nothing to send so far, or the last connection was closed in order.
        case idle
        /// The first attempt since the route was idle is under way.
        case connecting
        case connected
        /// No connection came about, or the last one ended; it is tried again after a while, or just now. It stays so
        /// until a connection is there.
        case waiting(ConnectError)
    }

    /// How a service throttles a route.
    public struct Throttle: Hashable, Sendable, CustomStringConvertible {
        public let since: WallTime
        /// The last refusal: its status, and its reason.
        public internal(set) var status: Int?
        public internal(set) var reason: Reason?
        /// Notifications a second that the service was measured to grant; nil while that is not known.
        public internal(set) var perSecond: Double?

        public var description: String {
            let words = [status.map { "\($0)" }, reason?.words].compactMap { $0 }
            let cause = words.isEmpty ? "" : " (\(words.joined(separator: " ")))"
            let rate = perSecond.map { $0 < 10 ? "\(Double(Int($0 * 10)) / 10)" : "\(Int($0))" }
            let pace = rate.map { ", at \($0) a second now" } ?? ""
            return "throttled by the service\(cause) since \(Timestamp.format(since))\(pace)"
        }
    }

    /// A service's word that a route shall send nothing for a while, since its provider token changes too often.
    public struct Parking: Hashable, Sendable, CustomStringConvertible {
        public let reason: Reason
        public let since: WallTime
        public let until: WallTime

        public var description: String {
            "parked since \(Timestamp.format(since)), because the service wants no new provider tokens (\(reason): does "
                + "another process use the same key?); nothing is sent until \(Timestamp.format(until)), or until a lane of "
                + "the route is resumed or its credentials are reloaded"
        }
    }

    public struct Lane: Sendable {
        public let key: LaneKey
        public let state: LaneState
        /// Unconfirmed entries, deferred ones included.
        public let backlog: Int
        /// When the first of them was accepted, deferred ones not included, as it was looked up last: see
        /// ``EngineConfiguration/measureInterval``. Nil when there is none, or it was not looked up yet.
        public internal(set) var oldestAcceptedAt: WallTime?
        /// When a lane that stopped by itself tries an entry next; nil for one that runs or is paused, and for one that
        /// waits for a connection or for something to try.
        public internal(set) var nextProbeAt: WallTime?
        /// Of the backlog: entries that no reading finds, since a page of the journal that leads to them is damaged.
        public internal(set) var unreachable = 0
        /// Whether it has stopped by itself, and tries an entry before anybody should give up.
        package internal(set) var isYetToBeProbed = false
        /// Nil while the lane is running; else why it stands still: `paused` with the operator's reason, or why it is
        /// stopped.
        public var stoppedBecause: String? { state.standsStillBecause }
    }

    /// A topic that the service refuses on a route. Its entries wait, and all others go.
    public struct Topic: Hashable, Sendable {
        public let topic: String
        /// The service's words.
        public let reason: String
        public let since: WallTime
        /// When one entry of it is tried next; nil while one is, and when there is none.
        public let nextProbeAt: WallTime?

        package init(topic: String, reason: String, since: WallTime, nextProbeAt: WallTime?) {
            self.topic = topic
            self.reason = reason
            self.since = since
            self.nextProbeAt = nextProbeAt
        }
    }

    /// Accepted by this process.
    public internal(set) var submitted = 0
    /// Refused by `submit`.
    public internal(set) var refused = 0
    /// Handed to a connection; an entry that goes again counts again.
    public internal(set) var handedOut = 0
    /// Hand-outs that were refused, because the entry was in flight already. Anything but 0 is a fault of the engine.
    public internal(set) var secondHandOuts = 0
    public internal(set) var confirmed = 0
    /// Of them, by the answer to a barrier.
    public internal(set) var confirmedByBarrier = 0
    /// Of them, by nothing but silence.
    public internal(set) var confirmedByQuiet = 0
    /// Once confirmed by silence, and denied by a late error while they were kept aside: they went again, or were rejected
    /// by name. Not among ``confirmed``.
    public internal(set) var recalled = 0
    /// Of those confirmed by silence: denied by an error that came too late to recall them. They are lost.
    public internal(set) var wronglyConfirmed = 0
    /// By reason.
    public internal(set) var rejected: [Reason: Int] = [:]
    public internal(set) var expired = 0
    public internal(set) var unknown = 0
    /// Taken back by an operator, never having been sent. (One that may have been sent is ``unknown``.)
    public internal(set) var withdrawn = 0
    /// Times that an entry was answered "not now", or with nothing known.
    public internal(set) var deferrals = 0
    /// Times that an entry went back into its lane unharmed.
    public internal(set) var requeued = 0
    /// Entries that were sent again after an attempt that may have been taken.
    public internal(set) var possibleDuplicates = 0
    public internal(set) var inFlight = 0
    /// Of them, called bad and not judged yet.
    public internal(set) var suspects = 0
    /// Routes that hand out nothing for the moment, with the reason.
    public internal(set) var holding: [String: HoldReason] = [:]
    /// Routes whose service throttles or is unavailable, by name.
    public internal(set) var throttled: [String: Throttle] = [:]
    /// Routes that are parked, by name.
    public internal(set) var parked: [String: Parking] = [:]
    /// Outcomes that wait to be taken.
    public internal(set) var outcomes = 0
    /// Entries whose records cannot be read: neither unconfirmed nor ended.
    public internal(set) var quarantined = 0
    /// Places at which the blacklist is damaged. Anything but 0 means that notifications to tokens on it may be sent, until
    /// somebody mends it.
    public internal(set) var blacklistDamage = 0
    /// Of the whole journal: entries that silence has confirmed, kept aside in case a late error denies them.
    public internal(set) var aside = 0
    /// Events that some listener was too slow for.
    public internal(set) var eventsDropped = 0
    public internal(set) var lanes: [Lane] = []
    /// By name of the route; none for routes of which every topic goes.
    public internal(set) var topicsSetAside: [String: [Topic]] = [:]
    /// By name of the route.
    public internal(set) var connections: [String: ConnectionState] = [:]

    /// Entries that have met their end in this process.
    public var settled: Int { confirmed + rejected.values.reduce(0, +) + expired + unknown + withdrawn }
    public var rejectedTotal: Int { rejected.values.reduce(0, +) }
    /// Unconfirmed entries of the engine's lanes.
    public var unconfirmed: Int { lanes.reduce(0) { $0 + $1.backlog } }
    /// Of them: entries that no reading finds. Anything but 0 is damage, which somebody must mend.
    public var unreachable: Int { lanes.reduce(0) { $0 + $1.unreachable } }
}

/// Why the engine has nothing to do.
public enum EngineRest: Hashable, Sendable {
    /// Every entry has met its end.
    case drained
    /// What is left waits in lanes that are stopped or paused, or for topics that are set aside; the reason of the first.
    /// (Something was tried since, unless an operator has paused it or no connection can be made; of topics, each that waits,
    /// or so many that the topic is not likely to come back by itself.)
    case stopped(String)
    /// What is left in a lane cannot be reached, or tokens on the blacklist may be missed, since the journal is damaged: says
    /// how many, and what to do. Whatever else there is has met its end, or is stopped.
    case damaged(String)
    /// The engine is not running any more.
    case ended
}

extension EngineRest {
    /// Entries that the journal counts, and that no reading finds.
    static func unreachableWords(_ count: Int, of key: LaneKey) -> String {
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        return "the journal is damaged: \(entries) of \(key) cannot be reached. `holdfast journal verify` says what "
            + "is damaged; with `--salvage NEW` it copies what is sound into a new journal"
    }
}
