/// What is deferred, and when it is due.
extension Promotions {
    /// A clock that was ahead in the last process may have left due times that are far off: those need not wait again.
    func start(at now: Moment) {
        lookForStranded(from: now.monotonic)
        for index in lanes.indices where refresh(index, at: now) { judge.topicHold.lookThrough(lane: index) }
    }

    /// Entries of another journal were put into this one, perhaps among the deferred.
    func restored(at now: Moment) {
        judge.tagHold.lookEverywhere()
        for index in lanes.indices where refresh(index, at: now) { judge.topicHold.lookThrough(lane: index) }
    }

    /// The opinion of the clock has changed, and what an earlier process has deferred by a clock that was ahead is not known
    /// by its time.
    func lookForStranded(from time: Duration) {
        for index in lanes.indices { lanes[index].deferral.lookForStranded(from: time) }
    }

    /// Settlements are on disk, which may have deferred entries.
    func settled(_ work: SettlementWork, at now: Moment) {
        var (changed, taken): (Set<LaneID>, Set<LaneID>) = ([], [])
        for settlement in work.part.batch.others {
            switch settlement.kind {
            case .deferUntil(let due, attempts: _, reason: _, possiblySent: _):
                changed.insert(settlement.key.lane)
                guard let index = lanes.index(of: settlement.key.lane) else { continue }
                guard due.isPlaceOfTopic || due.isPlaceOfTag else {
                    lanes[index].deferral.wasPutOff()
                    continue
                }
                if due.isPlaceOfTopic { judge.topicHold.waits(until: due, lane: index) }
                judge.tagHold.waits(until: due, lane: index)
            case .recall(_?, possiblySent: _): changed.insert(settlement.key.lane)
            case .withdraw, .withdrawSent: taken.insert(settlement.key.lane)
            default: continue
            }
        }
        guard !changed.isEmpty || !taken.isEmpty else { return }
        for index in lanes.indices {
            let id = lanes[index].id
            if changed.contains(id) || taken.contains(id) { refresh(index, at: now) }
            if taken.contains(lanes[index].id) { lookAtPlaces(of: index) }
        }
    }

    /// Entries were taken back. A topic of which none waits any more is not tried, also where the route may send nothing now.
    private func lookAtPlaces(of index: Int) {
        do throws(JournalError) {
            for place in judge.topicHold.places(inLane: index) {
                let before = WallTime(milliseconds: place.milliseconds - 1)
                guard try context.journal.nextDue(lanes[index].id, after: before) != place else { continue }
                judge.topicHold.emptied(place, lane: index)
            }
        } catch {
            // What can't be read now is found out when the topic is tried.
            if error.isFatal { shutdown.fail(error) }
        }
    }

    /// Learns when the lane's first deferred entry is due.
    ///
    /// - Returns: whether any is deferred, as far as it can be read.
    @discardableResult
    func refresh(_ index: Int, at now: Moment) -> Bool {
        do throws(JournalError) {
            let due = try context.journal.nextDue(lanes[index].id, after: nil)
            let (isTopics, isScheduled) = (due?.isPlaceOfTopic == true, due?.isScheduled == true)
            let isTags = due?.isPlaceOfTag == true
            if isTopics { judge.topicHold.found(lane: index) }
            let fresh = Moment(monotonic: now.monotonic, wall: context.clock.wall())
            lanes[index].deferral.found(
                isTopics || isScheduled || isTags ? nil : due, longest: judge.greatestWait, at: fresh)
            try refreshSchedule(index, first: due)
            return due != nil && !isScheduled && !isTags
        } catch {
            guard !error.isFatal else {
                shutdown.fail(error)
                return false
            }
            lanes[index].deferral.unread(tryingAgainAt: now.monotonic + context.configuration.settlementRetry)
            return true
        }
    }

    /// Entries were scheduled, perhaps before all others.
    func scheduled(_ index: Int) {
        do throws(JournalError) {
            try refreshSchedule(index, first: nil)
        } catch {
            // A read that fails holds the lane up until it is tried again, as with what is deferred.
            lanes[index].deferral.unread(tryingAgainAt: context.clock.monotonic())
        }
    }

    /// - Parameter first: when the first deferred entry is due, scheduled ones included, if that is known.
    private func refreshSchedule(_ index: Int, first: WallTime?) throws(JournalError) {
        let next =
            first?.isScheduled == true
            ? first : try context.journal.nextDue(lanes[index].id, after: ScheduledPlace.last)
        lanes[index].deferral.foundScheduled(next.flatMap(ScheduledPlace.time))
    }
}
