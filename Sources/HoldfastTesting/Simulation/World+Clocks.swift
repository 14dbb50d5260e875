internal import Holdfast

/// What cannot be undone is not done by a clock that has just been set.
extension World {
    /// The engine looks at the clocks in each turn, and when something is submitted. A clock that was set while no process looked shows only by how far it is
    /// from the journal's last time.
    func lookAtClocks() {
        let distrust = Duration.seconds(600)
        if now >= rules.doubtfulUntil { rules.ahead = .zero }
        defer {
            (rules.unseenStep, rules.hasUnseenSteps) = (.zero, false)
            if now >= rules.doubtfulUntil, !isBelieved { believedOffsets.append(wallOffset) }
        }
        guard rules.hasLooked else {
            rules.hasLooked = true
            forgetSetClock()
            guard let gap = journal.wallTimeAtOpen.map({ wall.since($0) }) else { return }
            guard gap > .seconds(300) || gap < .seconds(-1) else { return }
            (rules.ahead, rules.doubtfulUntil) = (max(gap, .zero), rules.openedAt + distrust)
            return
        }
        let step = rules.unseenStep
        guard step > .seconds(300) || step < .seconds(-300) else {
            // To and fro between two looks, which nobody saw.
            if rules.hasUnseenSteps { clockWasSet = rules.clockBefore }
            return
        }
        (rules.ahead, rules.doubtfulUntil) = (max(rules.ahead + step, .zero), rules.unseenSince + distrust)
    }

    /// Whether an engine may have believed the clock as it is set, but for what is no step.
    var isBelieved: Bool { believedOffsets.contains { abs($0 - wallOffset) < 300_000 } }

    /// Nothing is deleted for its age by a clock that is ahead, or for lying in the future by one that is behind.
    func checkTrim(_ bounds: TrimBounds) {
        guard now < rules.doubtfulUntil else { return }
        // Small steps are believed.
        let time = wall.advanced(by: .seconds(900) - rules.ahead)
        let engine = swarm.engine
        let ages = [
            ("rejections", bounds.rejectionsBefore, engine.rejectionAge),
            ("identities", bounds.identitiesBefore, engine.identityAge),
            ("entries kept aside", bounds.asideBefore, engine.lateErrorPeriod),
        ]
        for (what, before, age) in ages {
            guard let before, before > time.advanced(by: .zero - age) else { continue }
            violate(
                2,
                "\(what) from before \(before.milliseconds) are to be deleted by a clock that may be \(rules.ahead) "
                    + "ahead; \(age) are not over")
        }
        if let after = bounds.asideAfter {
            violate(
                2, "entries kept aside after \(after.milliseconds) are to be confirmed by a clock that was just set")
        }
    }

    /// Nothing expires for good by a clock that has just been set.
    func isExpiredByDoubt(_ notification: PushNotification) -> Bool {
        guard let set = clockWasSet, now < set.at + .seconds(600) else { return false }
        // The journal proves that it is later than a clock says which is behind.
        if let known = journal.wallTimeAtOpen, notification.isExpired(at: known) { return false }
        return !notification.isExpired(at: WallTime(milliseconds: wall.milliseconds - set.by))
    }
}
