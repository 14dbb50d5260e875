/// Why an entry does not go out now.
enum Obstacle {
    /// The service rejected it before a crash: the entry of the blacklist that says so.
    case wasRejected(BlacklistEntry)
    case hadItsAttempt
    case expired
    case blacklisted
    /// Its token is bad here, and may be good in the other environment, which this lane serves.
    case otherEnvironment(LaneID)
    /// The service has no recipients of this kind.
    case unsupported
    /// A newer notification stands for it.
    case superseded
    case topicSetAside(until: WallTime)
    /// An operator has paused its tag.
    case tagPaused(until: WallTime)
    /// It has ended so many connections that carried nothing else.
    case endsConnections(Int, counts: Bool)
    /// For a topic whose tokens are called bad.
    case tooOld
    case mustWait(Duration, Reason)
    /// It may not be delivered before this time.
    case scheduled(for: WallTime)
}
