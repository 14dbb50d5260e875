/// What the service keeps of a channel's broadcasts for devices that are not connected: Apple's `message-storage-policy`.
/// A number that is not among these is kept as it came.
public struct MessageStoragePolicy: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Nothing: a broadcast reaches the devices that are connected, and its expiration must be 0.
    public static let noMessage = MessageStoragePolicy(rawValue: 0)
    /// The broadcast that was sent last, until it expires. Apple lets less be published to a channel that stores.
    public static let mostRecentMessage = MessageStoragePolicy(rawValue: 1)
}

/// How a channel was created.
public struct ChannelConfiguration: Hashable, Sendable {
    public let storagePolicy: MessageStoragePolicy
    /// `LiveActivity`, as the service spells it.
    public let pushType: String

    public init(storagePolicy: MessageStoragePolicy, pushType: String) {
        self.storagePolicy = storagePolicy
        self.pushType = pushType
    }
}
