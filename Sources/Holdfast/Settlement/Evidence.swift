/// The tokens and topics of entries that answers refused, read from the journal.
///
/// An answer names an entry by its ticket; only the journal has its token and its topic.
struct Evidence: Sendable {
    /// Nothing for an entry that has met its end, or that can't be read.
    var tokens: [EntryKey: TokenOfTopic] = [:]
    var topics: [EntryKey: String] = [:]
    /// Where entries go whose token is found bad, if not to the rejections: see ``Route/triesOtherEnvironment``.
    var otherLanes: [EntryKey: LaneID] = [:]
}

extension Settler {
    /// Reads what a plan asks about.
    ///
    /// - Parameter route: the name of the lanes' route.
    /// - Throws: ``JournalError`` when the entries can't be read.
    func evidence(for plan: SettlementPlan, lanes: [LaneID], route: String) throws(JournalError) -> Evidence {
        var evidence = Evidence()
        let bad = Set(
            plan.suspects.filter { $0.result.reason == .badDeviceToken && !$0.flight.isMoved }
                .map { EntryKey(lane: lanes[$0.flight.lane], uid: $0.flight.uid) })
        for (lane, id) in lanes.enumerated() {
            let flights = (plan.suspects + plan.refusedTopics).map(\.flight).filter { $0.lane == lane }
            guard !flights.isEmpty else { continue }
            for (uid, notification) in try notifications(Set(flights.map(\.uid)).sorted(), lane: id) {
                let key = EntryKey(lane: id, uid: uid)
                evidence.topics[key] = notification.topic
                // What is said of many devices says nothing of one.
                guard !notification.recipient.isBroadcast else { continue }
                evidence.tokens[key] = TokenOfTopic(recipient: notification.recipient, topic: notification.topic)
                if bad.contains(key) {
                    evidence.otherLanes[key] = try otherLane(than: id, of: route, for: notification)
                }
            }
        }
        return evidence
    }

    /// - Throws: ``JournalError`` when the journal must be reopened. One record of the blacklist that can't be read is no reason
    ///   to try anything.
    private func otherLane(
        than lane: LaneID, of route: String, for notification: PushNotification
    ) throws(JournalError) -> LaneID? {
        let producer = producer
        let routes = producer.terms.routes
        guard notification.token != nil, routes.otherPlace(than: lane, of: route, topic: notification.topic) != nil
        else {
            return nil
        }
        do throws(JournalError) {
            let blacklist = producer.blacklist
            let entries = blacklist.count > 0 ? try blacklist.entries(for: notification.recipient) : []
            return routes.otherLane(
                than: lane, of: route, topic: notification.topic, registeredAt: notification.tokenRegisteredAt,
                blacklist: entries, now: producer.clock.wall())
        } catch {
            if error.isFatal { throw error }
            return nil
        }
    }
}
