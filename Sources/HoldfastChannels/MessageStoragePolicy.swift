/// The broadcasts of a channel that the service stores for devices that are not connected: Apple's
/// `message-storage-policy`. An unknown number is kept as it came.
public struct MessageStoragePolicy: RawRepresentable, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: Int
    /// The policy with this number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Stores nothing: a broadcast reaches connected devices only, and its expiration must be 0.
    public static let noMessage = MessageStoragePolicy(rawValue: 0)
    /// Stores the latest broadcast until it expires. Apple allows fewer broadcasts to such a channel.
    public static let mostRecentMessage = MessageStoragePolicy(rawValue: 1)
}

/// The configuration that a channel was created with.
public struct ChannelConfiguration: Hashable, Sendable {
    /// The broadcasts that the service stores.
    public let storagePolicy: MessageStoragePolicy
    /// `LiveActivity`, as the service spells it.
    public let pushType: String

    /// A configuration, as for a mock.
    public init(storagePolicy: MessageStoragePolicy, pushType: String) {
        self.storagePolicy = storagePolicy
        self.pushType = pushType
    }
}
