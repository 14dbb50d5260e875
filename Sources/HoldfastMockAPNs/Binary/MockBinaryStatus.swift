import HoldfastMocking

/// The status of an error response of the binary protocol (Apple: *Local and Remote Notification Programming Guide:
/// Binary Provider API*). Any other number is possible, also as a literal: `["<token>": 8]`.
public struct MockBinaryStatus: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number on the wire.
    public let rawValue: UInt8

    /// Creates a status from the number on the wire.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates a status from the number on the wire.
    public init(integerLiteral value: UInt8) { rawValue = value }

    /// The service failed to process the notification.
    public static let processingError: MockBinaryStatus = 1
    /// The token is missing.
    public static let missingToken: MockBinaryStatus = 2
    /// The topic is missing.
    public static let missingTopic: MockBinaryStatus = 3
    /// The payload is missing.
    public static let missingPayload: MockBinaryStatus = 4
    /// The token has not 32 bytes.
    public static let invalidTokenSize: MockBinaryStatus = 5
    /// The topic is too long.
    public static let invalidTopicSize: MockBinaryStatus = 6
    /// The payload is too long.
    public static let invalidPayloadSize: MockBinaryStatus = 7
    /// The token is not valid.
    public static let invalidToken: MockBinaryStatus = 8
    /// The service shuts down; the identifier names the last notification taken.
    public static let shutdown: MockBinaryStatus = 10
    /// A frame of command 2 has invalid items. Not documented by Apple.
    public static let invalidFrameItem: MockBinaryStatus = 128
    /// The reason is unknown.
    public static let unknown: MockBinaryStatus = 255
}
