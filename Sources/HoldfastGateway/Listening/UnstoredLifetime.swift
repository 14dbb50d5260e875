internal import Holdfast

extension Expiration {
    /// For `apns-expiration: 0`, which asks the service to store nothing for a device that is offline. Many senders say it
    /// always and do not mean "one attempt"; so the notification is tried until the lifetime is over, as others are.
    ///
    /// - Parameter lifetime: less than a second is one attempt.
    static func unstored(for lifetime: Duration, from now: WallTime) -> Expiration {
        lifetime < .seconds(1) ? .once : .unstored(until: now.advanced(by: lifetime).seconds)
    }
}
