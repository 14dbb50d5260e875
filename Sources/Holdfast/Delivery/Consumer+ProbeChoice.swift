/// Which entry a lane tries that was stopped for its credentials: they may be refused for one topic, and taken for others.
extension Consumer {
    /// How many entries are looked at for one of another topic.
    static let probeLook = 2000

    /// Hands out one entry of a topic that was not refused since anything was taken: from what goes again, then from what was
    /// never handed out.
    ///
    /// - Returns: how many entries were dealt with; nil when there is no such entry at hand, and any will do.
    func tryOtherTopic(
        of index: Int, on number: Int, _ link: Link, passingOver passedOver: Set<UID>, now: Duration, wall: WallTime
    ) throws(JournalError) -> Int? {
        guard lanes[index].isStopped, lanes[index].remedy == .credentials, credentialTopics.hasRefused else {
            return nil
        }
        if try tryOtherTopicAgain(of: index, on: number, link, passingOver: passedOver, now: now, wall: wall) {
            return 1
        }
        return try tryNewTopic(of: index, on: number, link, now: now, wall: wall)
    }

    private func tryOtherTopicAgain(
        of index: Int, on number: Int, _ link: Link, passingOver passedOver: Set<UID>, now: Duration, wall: WallTime
    ) throws(JournalError) -> Bool {
        let lane = lanes[index]
        guard case .readAgain(let again) = lane.nextStep(limit: Self.probeLook, passingOver: passedOver) else {
            return false
        }
        let covered = again.prefix(lane.covered(again))
        guard !covered.isEmpty else { return false }
        let batch = try journal.unconfirmed(lane.id, uids: covered.map(\.uid))
        guard let position = firstOfOtherTopic(in: batch),
            let entry = covered.first(where: { $0.uid == batch.items[position].uid })
        else { return false }
        lanes[index].takeAgain([entry], isFront: entry == again.first && passedOver.isEmpty)
        give(
            batch.removing(batch.items.indices.filter { $0 != position }), of: index, on: number, link, now: now,
            wall: wall
        ) {
            _ in entry.possiblySent
        }
        return true
    }

    private func tryNewTopic(
        of index: Int, on number: Int, _ link: Link, now: Duration, wall: WallTime
    ) throws(JournalError) -> Int? {
        let lane = lanes[index]
        let end = min(lane.mark, lane.lastUID)
        // What is passed goes again, and waits in memory.
        guard !lane.holdsReading, !lane.isLowering, lane.cursor < end, lane.againCount < 2 * configuration.window else {
            return nil
        }
        let ahead = try journal.unconfirmed(lane.id, after: lane.cursor, through: end, limit: Self.probeLook)
        guard let position = firstOfOtherTopic(in: ahead) else { return nil }
        let uid = ahead.items[position].uid
        let batch = try journal.unconfirmed(lane.id, after: lane.cursor, through: uid, limit: Self.probeLook)
        lanes[index].advance(to: uid, count: batch.wholeCount)
        let markAtOpen = lane.markAtOpen
        quarantine(batch.unreadable, of: index, wall: wall) { $0 <= markAtOpen }
        let fresh = batch.removing(lanes[index].passOver(in: batch))
        lanes[index].requeue(
            fresh.items.filter { $0.uid != uid }.map {
                LaneStateMachine.Again(uid: $0.uid, possiblySent: $0.isPossiblySent || $0.uid <= markAtOpen)
            })
        let probe = fresh.removing(fresh.items.indices.filter { fresh.items[$0].uid != uid })
        give(probe, of: index, on: number, link, now: now, wall: wall) { $0 <= markAtOpen }
        return max(batch.wholeCount, 1)
    }

    private func firstOfOtherTopic(in batch: EntryBatch) -> Int? {
        for position in batch.items.indices {
            do throws(PackedNotification.Damage) {
                let topic = try batch.fields(at: position).topic
                if !credentialTopics.hasRefused(breakers.number(of: topic, in: batch.bytes)) { return position }
            } catch {
                // It is moved aside when its turn comes.
                continue
            }
        }
        return nil
    }
}
