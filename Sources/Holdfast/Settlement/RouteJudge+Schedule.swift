/// Entries that may not be delivered yet: before their time, or outside of their hours of the day.
extension RouteJudge {
    /// So long an entry waits whose time zone is not known here, for another program that knows it.
    private static let waitForTimeZone = Duration.seconds(3600)

    /// Returns the time before which the entry must not be handed out; `nil` if it may be now.
    func schedule(_ fields: PackedNotification.Fields, in batch: EntryBatch, wall: WallTime) -> WallTime? {
        guard fields.deliverAfter != nil || fields.hasDeliveryHours else { return nil }
        // A clock that is ahead must not send anything early.
        let earliest = clock.earliest
        var time = max(fields.deliverAfter ?? earliest, earliest)
        if let hours = fields.deliveryHours(in: batch.bytes) {
            time = opening(of: hours, at: time, earliest: earliest, wall: wall)
        }
        guard time > earliest else { return nil }
        // It expires then, and not only when its hours begin.
        return fields.expiration == 0 ? time : min(time, WallTime(seconds: fields.expiration))
    }

    private func opening(
        of hours: DeliveryHours, at time: WallTime, earliest: WallTime, wall: WallTime
    ) -> WallTime {
        guard let opening = hours.opening(at: time) else { return time.advanced(by: Self.waitForTimeZone) }
        guard opening <= earliest, !clock.isTrusted, let byClock = hours.opening(at: wall) else { return opening }
        // While the clock is doubted it may be this time or that: it goes if it may at both.
        return byClock > wall ? earliest.advanced(by: byClock.since(wall)) : opening
    }
}
