internal import Holdfast

extension Expiration {
    /// The expiration for `apns-expiration: 0`, which asks the service to store nothing for an offline device. Many
    /// senders always set it and do not mean "one attempt"; so the notification is retried until the lifetime is over,
    /// as others are.
    ///
    /// - Parameter lifetime: less than a second is one attempt.
    static func unstored(for lifetime: Duration, from now: WallTime) -> Expiration {
        lifetime < .seconds(1) ? .once : .unstored(until: now.advanced(by: lifetime).seconds)
    }
}
