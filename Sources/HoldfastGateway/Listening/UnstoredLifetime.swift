internal import Holdfast

extension Expiration {
    /// What an expiration of 0 asks for: that the service stores nothing for a device that is offline. Many senders say it
    /// always, and mean no more than that; so it is tried until its time is over, as others are.
    ///
    /// - Parameter lifetime: less than a second is one attempt.
    static func unstored(for lifetime: Duration, from now: WallTime) -> Expiration {
        lifetime < .seconds(1) ? .once : .unstored(until: now.advanced(by: lifetime).seconds)
    }
}
