package import Holdfast
internal import HoldfastJournal

/// Explains the future of an unconfirmed entry.
extension EntryExplanation {
    mutating func explainFuture(_ entry: JournalEntry, _ facts: EntryFacts, isPossiblySent: Bool) {
        let notification = entry.notification
        if isPossiblySent, entry.lane.guarantee == .atMostOnce {
            let cause = notification.guarantee == .atMostOnce ? "at-most-once" : "one attempt (apns-expiration 0)"
            sentences.append(
                "It will not be sent again, since it is \(cause): its outcome becomes *unknown* when its lane gets to it."
            )
            return
        }
        if let seconds = notification.expiration?.deadline, seconds <= facts.now.seconds {
            sentences.append(
                "Its expiration, \(Self.time(WallTime(seconds: seconds), facts.now)), has passed: it is not sent "
                    + "\(isPossiblySent ? "again" : "any more"), and its outcome becomes "
                    + "*\(isPossiblySent ? "unknown" : "expired")*.")
            return
        }
        if let blacklisted = facts.blacklisted {
            let noun = notification.recipient.noun
            guard !holds(blacklisted, facts) else {
                guard !blacklisted.looksLikeOtherEnvironment else {
                    return sentences.append(Self.eitherEnvironment(blacklisted, facts))
                }
                sentences.append(
                    "Its \(noun) is on the blacklist since \(Self.time(blacklisted.since, facts.now)) (\(blacklisted.reason), "
                        + "learnt on route \(blacklisted.route)): it will be rejected instead of sent, unless the \(noun) is "
                        + "taken off before (`holdfast blacklist remove`).")
                return
            }
            sentences.append(
                "Its \(noun) is on the blacklist, but was registered later than that, so it goes all the same.")
        }
        if let newer = facts.newer {
            sentences.append(Self.superseded(by: newer, again: isPossiblySent))
            return
        }
        sentences.append(Self.next(entry, facts, again: isPossiblySent || entry.attempts > 0 ? "goes again" : "goes"))
        if isPossiblySent, let id = notification.id {
            let known =
                notification.recipient.serviceAddress == nil
                ? "with the same apns-id, \(id)" : "by which a device can know it with `id-key` alone: its id is \(id)"
            sentences.append("If it was taken the first time it is a duplicate then, \(known).")
        }
    }

    static func superseded(by newer: UID, again isPossiblySent: Bool) -> String {
        "It does not go\(isPossiblySent ? " again" : ""): notification \(newer), to the same recipient with the same topic and "
            + "collapse id, is newer and takes its place. When its turn comes, it ends as "
            + "*\(isPossiblySent ? "unknown" : "superseded")*."
    }

    /// Which service an entry goes to only a running engine knows: it may be on its way to the other environment already.
    private static func eitherEnvironment(_ entry: BlacklistEntry, _ facts: EntryFacts) -> String {
        "Its token is on the blacklist \(scope(of: entry)) since \(time(entry.since, facts.now)) (\(entry.reason), learnt on "
            + "route \(entry.route)): it is not sent there any more. It goes to the other environment if the route has "
            + "`other-environment: try`, else it will be rejected, unless the token is taken off before "
            + "(`holdfast blacklist remove`)."
    }

    /// Whether a blacklist entry keeps the entry from being sent: the rule of ``TokenBlacklist``.
    func holds(_ blacklisted: BlacklistEntry, _ facts: EntryFacts) -> Bool {
        guard case .entry(let entry) = facts.standing else { return true }
        return entry.notification.tokenRegisteredAt.map { $0 <= blacklisted.since } ?? true
    }

    /// When it goes, and what holds it up.
    private static func next(_ entry: JournalEntry, _ facts: EntryFacts, again goes: String) -> String {
        let lane = entry.lane.description
        let resume = "holdfast lanes resume \(ShellText.word(lane))"
        if let pause = facts.pause {
            return
                "It \(goes) when its tag is resumed (`\(TagPause.command(resuming: pause.tag))`), which an "
                + "operator paused at \(time(pause.since, facts.now))"
                + (pause.reason.isEmpty ? "." : ": \(pause.reason.debugDescription).")
        }
        switch facts.laneState {
        case .paused(let reason, let since):
            let words = reason.isEmpty ? "" : ": \(reason.debugDescription)"
            return
                "It \(goes) when lane \(lane) resumes (`\(resume)`), which an operator paused at "
                + "\(time(since, facts.now))\(words)."
        case .stopped(let reason, let since):
            return
                "It \(goes) when lane \(lane) resumes, which stopped at \(time(since, facts.now)): \(reason). Mend that: "
                + "the lane tries one entry now and then, and at once after `\(resume)`."
        case .running: break
        }
        guard facts.owner != nil else {
            return "It \(goes) when a process delivers the journal: nobody does now (`holdfast recover`, or the "
                + "application that made it)."
        }
        let ownTime: String? =
            if case .scheduled(let time) = entry.state, time > facts.now { "It \(goes) then." } else { nil }
        guard let live = facts.live else { return ownTime ?? "It \(goes) in its turn." }
        guard live.isServed else {
            return
                "It \(goes) when a process serves its route \(entry.lane.route): the one that uses the journal does not."
        }
        if let route = live.route, route.isAway {
            return "It \(goes) when there is a connection to \(route.endpoint) again: \(route.connection)."
        }
        // What holds everything up comes before what is wrong with the topic.
        if let away = live.serviceAway { return "It \(goes) when the push service answers again: \(away)." }
        if let holding = live.route?.holding {
            return "It \(goes) when its route \(entry.lane.route) hands out again: \(holding)."
        }
        if let topic = live.route?.topics.first(where: { $0.topic == entry.notification.topic }) {
            let next = topic.nextProbeAt.upcoming(at: facts.now)
            let probe = next.map { "; one entry of it is tried at \(time($0, facts.now))" } ?? ""
            return
                "It \(goes) when the service takes topic \(topic.topic) again, which is set aside on route "
                + "\(entry.lane.route) since \(time(topic.since, facts.now)): \(topic.reason)\(probe). To try it at once: "
                + "`\(resume)`."
        }
        if case .deferred(let due) = entry.state, due > facts.now, !due.isPlaceOfTopic, !due.isPlaceOfTag {
            guard entry.lastReason == .clockDistrusted else { return "It \(goes) then." }
            return "It \(goes) then, or as soon as this machine's clock is right again and believed."
        }
        return ownTime ?? "It \(goes) in its turn."
    }

    /// `2026-11-21T12:03:00Z (4 min ago)`
    package static func time(_ time: WallTime, _ now: WallTime) -> String {
        let instant = Timestamp.format(WallTime(seconds: time.seconds))
        let distance = now.since(time)
        if distance >= .zero { return "\(instant) (\(Format.span(distance)) ago)" }
        return "\(instant) (in \(Format.span(.zero - distance)))"
    }

    static func times(_ count: Int) -> String { count == 1 ? "once" : "\(Format.count(count)) times" }
}
