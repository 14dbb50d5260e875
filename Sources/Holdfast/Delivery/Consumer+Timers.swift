/// Everything that has a time of its own says when it is to be looked at next; here all of them are asked.
extension Consumer {
    func look(at now: Moment) {
        let time = now.monotonic
        context.holds.look(time)
        connections.endPauses(now: time)
        marks.look(now: time)
        places.lookAtOutcomes()
        performer.look(at: now)
        quarantines.look(now: time)
        barriers.look(windowLimit: places.linkWindowLimit, now: time)
        guard !context.ending.hasBegun else { return }
        performer.judgeSuspects(at: now)
        states.lookAtProbes(at: now)
        censuses.look(now: time)
        judge.topicHold.look(context.configuration.probes, at: now, random: context.jitter.unit())
        trimIfDue(at: now)
        handOuts.lookWhoYields(at: now)
        promotions.lookForResumed(at: now)
        promotions.bringBack(now: time)
    }

    /// When there is something to do at the latest, whatever comes in the meantime.
    func nextLook(now: Duration) -> Duration? {
        var looks = [
            performer.nextLook, quarantines.nextLook, marks.nextLook, context.ending.nextLook(now),
            context.holds.nextLook, judge.clock.distrustedUntil, expiryLook.nextLook, context.ownershipLook(now: now),
        ]
        looks += connections.nextLooks
        if housekeeping.isInCharge { looks.append(context.teller.observer.engine.conditions.nextLook) }
        if !context.ending.hasBegun {
            looks += [
                places.nextLook(now: now), handOuts.nextTrial(now: now), handOuts.nextSearch(now: now),
                handOuts.nextHesitation(now: now), handOuts.nextGivingUp(now: now), handOuts.nextPlenty(now: now),
                connections.pool.nextAttempt,
                connections.nextScaling(now: now), housekeeping.next, reports.nextLook, judge.breakers.judgementAt,
                censuses.nextLook, judge.topicHold.wake, promotions.nextLook(now: now),
            ]
            looks += lanes.map(\.nextLook)
        }
        return looks.compactMap { $0 }.min()
    }

    /// Has the journal delete what is too old or too many, and note the time.
    private func trimIfDue(at now: Moment) {
        guard let bounds = housekeeping.due(now: now.monotonic, judge.clock) else { return }
        context.journal.trim(bounds) { [inbox = context.inbox] result in inbox.post { $0.trimmed = result } }
    }
}
