internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Where an entry stands and what comes next, in sentences for people. A pure function of the facts.
package struct EntryExplanation: Equatable, Sendable {
    /// Where it stands, in a few words: `deferred`, `in flight`.
    package private(set) var summary: String
    /// Each with its full stop, the first of them on where the entry stands.
    package var sentences: [String] = []

    package init(_ facts: EntryFacts) {
        switch facts.standing {
        case .entry(let entry):
            summary = ""
            explain(entry, facts)
        case .unreadable(let isQuarantined):
            summary = isQuarantined ? "in quarantine" : "unreadable"
            sentences = Self.unreadable(isQuarantined)
        case .settled(let outcome):
            summary = "settled: \(outcome)"
            sentences = Self.settled(outcome)
        case .ended(let outcome):
            summary = outcome.terminal.description
            explainEnded(outcome, facts)
        case .forgotten:
            summary = "settled"
            sentences = [
                "It has met its end, and nothing is kept of how: whoever took its outcome knows, and the totals count it."
            ]
        case .never:
            summary = "never given out"
            sentences = ["No notification was given this UID so far."]
        }
    }

    private static func unreadable(_ isQuarantined: Bool) -> [String] {
        isQuarantined
            ? [
                "Its record cannot be read, so it was moved aside, whole; nothing else is held up by it.",
                "`holdfast journal quarantine list` says why; `retry` brings it back after an upgrade, `drop` gives it up.",
            ]
            : [
                "Its record cannot be read; whoever delivers the journal moves it to the quarantine when it is its turn."
            ]
    }

    private static func settled(_ outcome: TerminalOutcome) -> [String] {
        switch outcome {
        case .confirmed: return ["The push service took it. (Whether the device showed it, nobody says.)"]
        case .rejected(let reason):
            let guide = ReasonGuide.of(reason)
            return ["It was rejected with \(reason): \(guide.meaning).", "The rejection itself was deleted since."]
        case .expired: return ["Its expiration came before it could be sent."]
        case .unknown:
            return [
                "It may have been sent, no answer came, and it will not be sent again: nobody knows whether it was taken."
            ]
        case .withdrawn: return ["It was taken back before it was sent."]
        case .superseded: return ["A newer notification took its place before it was sent, as was asked for."]
        }
    }

    private mutating func explainEnded(_ outcome: Outcome, _ facts: EntryFacts) {
        sentences += OutcomeStory(outcome).sentences { Self.time($0, facts.now) }
        guard let entry = facts.blacklisted else { return }
        guard !entry.looksLikeOtherEnvironment else { return explainOtherEnvironment(entry, outcome, facts) }
        let token = outcome.recipient.token == nil ? "address" : "token"
        sentences.append(
            "The \(token) is on the blacklist since \(Self.time(entry.since, facts.now)) (\(entry.reason), learnt on route "
                + "\(entry.route)): what is submitted for it is refused \(Self.end(of: entry, facts.now)).")
    }

    /// When an entry of the blacklist holds no more. Those of addresses are forgotten by themselves.
    private static func end(of entry: BlacklistEntry, _ now: WallTime) -> String {
        guard let end = entry.expiresAt else { return "until it is taken off" }
        return "until \(time(end, now)), when it is forgotten, or until it is taken off before"
    }

    /// What one environment calls bad may be good in the other: the way that it went, and that the next ones go.
    private mutating func explainOtherEnvironment(_ entry: BlacklistEntry, _ outcome: Outcome, _ facts: EntryFacts) {
        if entry.answered == outcome.uid, outcome.terminal != .rejected(entry.reason) {
            sentences.append(
                "Before that it was sent on route \(entry.route), whose service called the token bad (\(entry.reason)), and was "
                    + "moved to the other environment.")
        }
        sentences.append(
            "The token is on the blacklist \(Self.scope(of: entry)) since \(Self.time(entry.since, facts.now)) "
                + "(\(entry.reason), learnt on route \(entry.route)): what is submitted for it goes to the other environment at "
                + "once if the route has `other-environment: try`, a route of that environment serves the topic, and the sender "
                + "names no environment. Else it is refused until the token is taken off.")
    }

    /// The service whose part of the blacklist an entry is.
    static func scope(of entry: BlacklistEntry) -> String { entry.endpoint.map { "of \($0)" } ?? "of every service" }

    // MARK: An entry of the journal

    private mutating func explain(_ entry: JournalEntry, _ facts: EntryFacts) {
        switch entry.state {
        case .neverSent, .possiblySent: explainWaiting(entry, facts)
        case .deferred(let due) where due.isPlaceOfTag: explainHeld(entry, facts)
        case .deferred(let due): explainDeferred(entry, until: due, facts)
        case .scheduled(let time): explainScheduled(entry, for: time, facts)
        case .aside(let since): explainAside(since, facts)
        case .rejected(let cause): explainRejected(entry, cause, facts)
        }
        if let rejection = entry.retryOf {
            sentences.append("An operator made it of the rejection \(rejection), to send that again.")
        }
    }

    private mutating func explainWaiting(_ entry: JournalEntry, _ facts: EntryFacts) {
        if explainLive(entry, facts) { return }
        if entry.isPossiblySent {
            summary = "possibly sent, not answered"
            sentences.append(Self.possiblySent(entry, facts))
        } else {
            summary = "never sent"
            sentences.append(
                facts.live == nil
                    ? "It is above the send mark of its lane (\(facts.mark)): certainly not sent."
                    : "It has not been handed out yet.")
        }
        explainFuture(entry, facts, isPossiblySent: entry.isPossiblySent)
    }

    /// Explains what the delivering process says of the entry, if it says something.
    private mutating func explainLive(_ entry: JournalEntry, _ facts: EntryFacts) -> Bool {
        guard let live = facts.live else { return false }
        switch live.standing {
        case .inFlight(let since)?:
            summary = "in flight"
            let time = since.map { " since \(Self.time($0, facts.now))" } ?? ""
            sentences.append("It is with a connection\(time), sent or in its queue, and not answered yet.")
        case .settling?:
            summary = "answered"
            sentences.append("It was answered; what follows is being written to the journal.")
        case .suspect(let reason)?:
            summary = "suspect"
            let word = reason.map { " (\($0))" } ?? ""
            let recipient = entry.notification.recipient
            let wrong = recipient.serviceAddress == nil ? "topic or environment are" : "the project is"
            sentences += [
                "The service called its \(recipient.noun) bad\(word), which is being judged: if it says so of many, \(wrong) wrong, "
                    + "and the lane stops with nothing lost.",
                "Otherwise it goes on the blacklist, and this one is rejected.",
            ]
        case .requeued(let possiblySent)?:
            summary = possiblySent ? "possibly sent, goes again" : "goes again"
            sentences.append(
                possiblySent
                    ? "It was handed out, and no answer came: it may have been sent."
                    : "The push service has processed nothing of it; it waits to be handed out.")
            explainFuture(entry, facts, isPossiblySent: possiblySent)
        case .possiblySentBefore?:
            summary = "possibly sent, not answered"
            sentences.append("An earlier process may have sent it, and has no answer noted.")
            explainFuture(entry, facts, isPossiblySent: true)
        case nil:
            // The mark runs ahead of the sending: this process has not come to it.
            summary = "waiting"
            sentences.append("It has not been handed out yet by the process that uses the journal.")
            explainFuture(entry, facts, isPossiblySent: false)
        }
        return true
    }

    private static func possiblySent(_ entry: JournalEntry, _ facts: EntryFacts) -> String {
        guard entry.uid <= facts.mark else { return "An earlier attempt had no answer: it may have been sent." }
        if facts.owner != nil {
            return
                "It is at or below the send mark of its lane (\(facts.mark)): were the process that uses the journal to "
                + "crash now, it would count as possibly sent. The mark runs ahead of the sending, so much of this still waits."
        }
        return
            "It was at or below the send mark of its lane (\(facts.mark)) when the journal was last used, and has no "
            + "answer: it may have been sent."
    }

    private mutating func explainHeld(_ entry: JournalEntry, _ facts: EntryFacts) {
        summary = "held"
        if let pause = facts.pause {
            sentences.append("It is held since \(Self.time(pause.since, facts.now)), because \(pause.words).")
        } else {
            sentences.append("It was held by a pause of its tag, which has ended.")
        }
        if entry.isPossiblySent { sentences.append("An earlier attempt had no answer: it may have been sent.") }
        explainFuture(entry, facts, isPossiblySent: entry.isPossiblySent)
    }

    private mutating func explainDeferred(_ entry: JournalEntry, until due: WallTime, _ facts: EntryFacts) {
        summary = "deferred"
        let reason = entry.lastReason.map { " for \($0): \(ReasonGuide.of($0).meaning)" } ?? ""
        let times = entry.attempts > 0 ? " It was answered so, or not at all, \(Self.times(entry.attempts))." : ""
        sentences.append("It was put off\(reason).\(times)")
        if entry.isPossiblySent { sentences.append("An earlier attempt had no answer: it may have been sent.") }
        let isDue = due <= facts.now
        sentences.append(
            due.isPlaceOfTopic
                ? Self.topicWait(entry.notification.topic, facts)
                : isDue ? "It is due since \(Self.time(due, facts.now))." : "It is due at \(Self.time(due, facts.now))."
        )
        explainFuture(entry, facts, isPossiblySent: entry.isPossiblySent)
        if let advice = entry.lastReason.flatMap({ ReasonGuide.of($0).advice }) { advise(advice) }
    }

    /// Behind a service that is away, a topic that is set aside is the lesser trouble.
    private static func topicWait(_ topic: String, _ facts: EntryFacts) -> String {
        let isAway = facts.live?.serviceAway != nil || facts.live?.route?.isAway == true
        let words = "its topic, \(topic), which is set aside."
        return isAway
            ? "It waits for the push service, which is away now, and then for \(words)" : "It waits for \(words)"
    }

    private mutating func explainScheduled(_ entry: JournalEntry, for time: WallTime, _ facts: EntryFacts) {
        summary = "scheduled"
        let hours = entry.notification.deliveryHours.map { ", within its hours, \($0)" } ?? ""
        let (word, on) = time > facts.now ? ("from", " on") : ("since", "")
        sentences.append("It may be delivered \(word) \(Self.time(time, facts.now))\(on)\(hours).")
        if entry.isPossiblySent { sentences.append("An earlier attempt had no answer: it may have been sent.") }
        explainFuture(entry, facts, isPossiblySent: entry.isPossiblySent)
        sentences.append("`holdfast journal drop --uids \(entry.uid)` takes it back.")
    }

    private mutating func explainAside(_ since: WallTime, _ facts: EntryFacts) {
        summary = "confirmed by silence, kept aside"
        sentences += [
            "No error came in the quiet period after it was sent, so it counts as taken since \(Self.time(since, facts.now)).",
            "It is kept aside for `limits.late-errors.period` from then on (10 minutes unless configured): an error that comes "
                + "late on its connection brings it back.",
            "Otherwise it ends as confirmed, and its outcome is told then.",
        ]
    }

    private mutating func explainRejected(_ entry: JournalEntry, _ cause: RejectionCause, _ facts: EntryFacts) {
        summary = "rejected: \(cause.reason)"
        let guide = ReasonGuide.of(cause.reason, status: cause.status)
        let status = cause.status.map { ", status \($0)" } ?? ""
        // The history knows more than the rejection: when it was sent.
        let course = facts.outcome.map { OutcomeStory($0).course { Self.time($0, facts.now) } }
        sentences.append(
            course
                ?? "It was rejected at \(Self.time(cause.rejectedAt, facts.now)) with \(cause.reason)\(status): \(guide.meaning)."
        )
        if let timestamp = cause.timestamp {
            sentences.append(
                "The service says so of its \(entry.notification.recipient.noun) since "
                    + "\(Self.time(timestamp, facts.now)).")
        }
        if let listed = facts.blacklisted, holds(listed, facts) {
            let noun = entry.notification.recipient.noun
            sentences.append(
                "Its \(noun) is on the blacklist since \(Self.time(listed.since, facts.now)) (\(listed.reason), learnt on route "
                    + "\(listed.route)): a retry is refused \(Self.end(of: listed, facts.now)).")
        }
        if let advice = guide.advice { advise(advice) }
        sentences.append(
            "`holdfast rejections retry \(entry.uid)` sends it again, `holdfast rejections discard \(entry.uid)` deletes it."
        )
    }

    private mutating func advise(_ advice: String) {
        sentences.append("What to do: \(advice).")
    }
}
