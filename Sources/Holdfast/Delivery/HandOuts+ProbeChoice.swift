/// Which entry a lane tries that was stopped for its credentials, or for what answers it: they may be refused for one topic, and taken
/// for others.
extension HandOuts {
    /// The most entries to search for one of another topic.
    static let probeLook = 2000

    /// Hands out one entry of a topic that has not fared so since anything was taken: from what goes again, then from what was
    /// never handed out.
    ///
    /// - Returns: how many entries were dealt with; nil when there is no such entry at hand, and any will do.
    func tryOtherTopic(
        of index: Int, on number: Int, _ link: Link, passingOver passedOver: Set<UID>, at now: Moment
    ) throws(JournalError) -> Int? {
        guard lanes[index].isStopped, judge.hasStopping(lanes[index].machine.remedy) else { return nil }
        if try tryOtherTopicAgain(of: index, on: number, link, passingOver: passedOver, at: now) {
            return 1
        }
        return try tryNewTopic(of: index, on: number, link, at: now)
    }

    private func tryOtherTopicAgain(
        of index: Int, on number: Int, _ link: Link, passingOver passedOver: Set<UID>, at now: Moment
    ) throws(JournalError) -> Bool {
        let lane = lanes[index]
        guard case .readAgain(let again) = lane.machine.nextStep(limit: Self.probeLook, passingOver: passedOver) else {
            return false
        }
        let covered = again.prefix(lane.machine.covered(again))
        guard !covered.isEmpty else { return false }
        let batch = try context.journal.unconfirmed(lane.id, uids: covered.map(\.uid))
        guard let position = firstOfOtherTopic(than: lane.machine.remedy, in: batch),
            let entry = covered.first(where: { $0.uid == batch.items[position].uid })
        else { return false }
        lanes[index].machine.takeAgain([entry], isFront: entry == again.first && passedOver.isEmpty)
        give(
            batch.removing(batch.items.indices.filter { $0 != position }), of: index, on: number, link, at: now
        ) {
            _ in entry.possiblySent
        }
        return true
    }

    private func tryNewTopic(
        of index: Int, on number: Int, _ link: Link, at now: Moment
    ) throws(JournalError) -> Int? {
        let lane = lanes[index]
        let end = min(lane.machine.mark, lane.machine.lastUID)
        // What is passed goes again, and waits in memory.
        guard !lane.machine.holdsReading, !lane.machine.isLowering, lane.machine.cursor < end,
            lane.machine.againCount < 2 * context.configuration.window
        else {
            return nil
        }
        let ahead = try context.journal.unconfirmed(
            lane.id, after: lane.machine.cursor, through: end, limit: Self.probeLook)
        guard let position = firstOfOtherTopic(than: lane.machine.remedy, in: ahead) else { return nil }
        let uid = ahead.items[position].uid
        let batch = try context.journal.unconfirmed(
            lane.id, after: lane.machine.cursor, through: uid, limit: Self.probeLook)
        lanes[index].machine.advance(to: uid, count: batch.wholeCount)
        let markAtOpen = lane.machine.markAtOpen
        quarantines.order(batch.unreadable, of: index, wall: now.wall) { $0 <= markAtOpen }
        let fresh = batch.removing(lanes[index].machine.passOver(in: batch))
        lanes[index].machine.requeue(
            fresh.items.filter { $0.uid != uid }.map {
                LaneStateMachine.Again(uid: $0.uid, possiblySent: $0.isPossiblySent || $0.uid <= markAtOpen)
            })
        let probe = fresh.removing(fresh.items.indices.filter { fresh.items[$0].uid != uid })
        give(probe, of: index, on: number, link, at: now) { $0 <= markAtOpen }
        return max(batch.wholeCount, 1)
    }

    private func firstOfOtherTopic(than remedy: LaneStateMachine.StopRemedy?, in batch: EntryBatch) -> Int? {
        firstReadable(in: batch) {
            !judge.isStopping(judge.breakers.number(of: $0.topic, in: batch.bytes), remedy)
        }
    }

    /// The position of the first entry of which this holds.
    func firstReadable(in batch: EntryBatch, where isWanted: (PackedNotification.Fields) -> Bool) -> Int? {
        batch.items.indices.first { holds(isWanted, at: $0, of: batch) }
    }

    /// The position of the last one.
    func lastReadable(in batch: EntryBatch, where isWanted: (PackedNotification.Fields) -> Bool) -> Int? {
        batch.items.indices.last { holds(isWanted, at: $0, of: batch) }
    }

    private func holds(_ isWanted: (PackedNotification.Fields) -> Bool, at position: Int, of batch: EntryBatch) -> Bool
    {
        do throws(PackedNotification.Damage) {
            return isWanted(try batch.fields(at: position))
        } catch {
            // It is moved aside when its turn comes.
            return false
        }
    }
}
