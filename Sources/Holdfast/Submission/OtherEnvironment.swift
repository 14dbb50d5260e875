/// A token that is bad in one of Apple's environments may be good in the other: a route may have a notification tried there
/// once, see ``Route/triesOtherEnvironment``.
///
/// What is known of the token is on the blacklist, one entry for each environment. Nothing goes to an environment in which the
/// token is known to be bad, and no entry changes its environment twice.
extension RouteTable {
    /// Where an entry goes whose token is bad on its route.
    ///
    /// - Parameters:
    ///   - lane: the entry's, of the route with this name.
    ///   - entries: of the token, on the blacklist.
    /// - Returns: nil where it is to be rejected.
    func otherLane(
        than lane: LaneID, of route: String, topic: String, registeredAt: WallTime?,
        blacklist entries: [BlacklistEntry],
        now: WallTime
    ) -> LaneID? {
        guard let place = otherPlace(than: lane, of: route, topic: topic) else { return nil }
        let isBad =
            TokenBlacklist.forbidding(
                entries, topic: topic, endpoint: place.endpoint, registeredAt: registeredAt, now: now) != nil
        return isBad ? nil : place.lane
    }

    /// The lane for a notification that is being submitted, whose token is known to be bad on its route.
    ///
    /// - Parameter entry: says so.
    func otherLane(
        for address: SubmissionDraft.Address, forbidden entry: BlacklistEntry, by entries: [BlacklistEntry],
        now: WallTime
    ) -> LaneID? {
        guard entry.looksLikeOtherEnvironment, !address.namesEnvironment else { return nil }
        return otherLane(
            than: address.lane, of: self.entries[address.route].route.name, topic: address.topic,
            registeredAt: address.registeredAt, blacklist: entries, now: now)
    }
}

extension BlacklistEntry {
    /// Whether the token may be good in the other environment: it was called bad, not gone, at one service.
    package var looksLikeOtherEnvironment: Bool { reason == .badDeviceToken && endpoint != nil && token != nil }
}
