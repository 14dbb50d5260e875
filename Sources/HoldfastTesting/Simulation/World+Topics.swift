internal import Holdfast

/// Entries of a topic that is set aside wait for no time of their own. So their topics have a bound: each is tried again
/// within the longest pause of probes, and comes back with all its entries.
extension World {
    /// Only a topic that the service has refused, or left without an answer, or not processed, or of which it has called a token bad or
    /// too many in a row gone, is set aside.
    func checkPlace(_ entry: LedgerEntry) {
        let topic = entry.notification.topic
        if peers.contains(where: { ($0 as? AnsweredPeer)?.isLate(topic) == true }) { return }
        if !rules.refusedTopics.contains(entry.notification.topic) {
            violate(9, "entry \(entry.uid) waits for its topic \(entry.notification.topic), which nobody has refused")
        }
    }

    /// The next probe of each topic is near.
    func checkTopics() {
        guard !rules.refusedTopics.isEmpty, let core, !isClockSuspect else { return }
        let latest = wall.advanced(by: swarm.engine.probes.maximum + .seconds(1))
        for (route, topics) in core.status().topicsSetAside {
            for topic in topics {
                guard let next = topic.nextProbeAt, next > latest else { continue }
                violate(9, "topic \(topic.topic) of route \(route) is to be tried only in \(next.since(wall))")
            }
        }
    }

    /// Once all is well, entries do not wait for their topics for longer than the topics' probes may take: a pause of
    /// probes, with what may keep the probe from going out, which are the other pauses, and an answer to it.
    func checkTopicsAreBack(_ healedAt: Duration) {
        let engine = swarm.engine
        let pauses =
            engine.probes.maximum + engine.probes.answerLimit + engine.park + engine.throttle.maximumPause
            + engine.reconnectMaximum + engine.retry.maximum + .seconds(20 * 60)
        guard now > max(healedAt, rules.openedAt) + pauses * 2, shutdownDeadline == nil, rules.paused.isEmpty else {
            return
        }
        let disk = snapshot
        for (_, lane) in disk.lanes where routes.contains(where: { $0.name == lane.key.route }) {
            // Of what ends each connection, whole topics may be left.
            for (uid, entry) in lane.deferred.all
            where entry.due.isPlaceOfTopic && !connectionEnders.contains(uid) {
                return violate(9, "entry \(uid) still waits for its topic, \(now - healedAt) after all was well")
            }
        }
    }
}
