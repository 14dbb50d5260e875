extension NotificationValidator {
    /// What Holdfast alone knows of a notification: its context, when it may go out, and whether the newest wins.
    func validateAdditions(_ notification: borrowing PushNotification, now: WallTime) throws(Refusal) {
        let most = PackedNotification.maximumContextByteCount
        guard notification.context.count <= most else {
            throw Refusal(
                .contextTooLong, "a context has at most \(most) bytes; this one has \(notification.context.count)")
        }
        guard !notification.newestWins || notification.collapseID != nil else {
            throw Refusal(
                .newestWinsUnsupported,
                "the newest notification wins among those with one collapse id, and this one has none")
        }
        try validateDeliveryTime(notification, now: now)
        try validateRegistration(notification.tokenRegisteredAt, now: now)
    }

    /// A time ahead would keep every later entry of the blacklist from the token. A day is for clocks that differ.
    private func validateRegistration(_ time: WallTime?, now: WallTime) throws(Refusal) {
        guard let time, time > now.advanced(by: Self.clockLeeway) else { return }
        throw Refusal(
            .badRegistrationTime,
            "the token is said to have been registered at \(Timestamp.format(time)), more than a day ahead of the clock here "
                + "(\(Timestamp.format(now))): it is a time that is past, in seconds and not milliseconds")
    }

    /// The time must be within reach, and before the expiration.
    private func validateDeliveryTime(
        _ notification: borrowing PushNotification, now: WallTime
    ) throws(Refusal) {
        if let time = notification.deliverAfter, time > now.advanced(by: Self.longestSchedule) {
            throw Refusal(
                .badDeliveryTime,
                "it is to be delivered after \(Timestamp.format(time)): at most \(Self.longestScheduleDays) days ahead")
        }
        guard let deadline = notification.expiration?.deadline,
            let opening = notification.opening(at: now), opening.seconds >= deadline
        else { return }
        // The time alone may be before the expiration, and the hours begin after it.
        let isHours = notification.deliveryHours != nil && (notification.deliverAfter ?? now).seconds < deadline
        throw Refusal(
            isHours ? .badDeliveryHours : .badDeliveryTime,
            "it may be delivered from \(Timestamp.format(opening)) on, and expires before, at "
                + Timestamp.format(WallTime(seconds: deadline)))
    }

    private static let clockLeeway = Duration.seconds(86400)
    private static let longestScheduleDays = 366
    private static let longestSchedule = Duration.seconds(longestScheduleDays * 86400)
}

extension PushNotification {
    /// The first time from `now` on at which it may go out; `nil` if that is now.
    package func opening(at now: WallTime) -> WallTime? {
        let time = max(deliverAfter ?? now, now)
        let opening = deliveryHours.map { $0.opening(at: time) ?? time } ?? time
        return opening > now ? opening : nil
    }
}
