/// The status of an error response of the binary protocol.
///
/// Can be written as a number: `["<token>": 8]`.
public struct MockBinaryStatus: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(integerLiteral value: UInt8) { rawValue = value }

    public static let processingError: MockBinaryStatus = 1
    public static let missingToken: MockBinaryStatus = 2
    public static let missingTopic: MockBinaryStatus = 3
    public static let missingPayload: MockBinaryStatus = 4
    public static let invalidTokenSize: MockBinaryStatus = 5
    public static let invalidTopicSize: MockBinaryStatus = 6
    public static let invalidPayloadSize: MockBinaryStatus = 7
    public static let invalidToken: MockBinaryStatus = 8
    /// The identifier is that of the last notification that was taken.
    public static let shutdown: MockBinaryStatus = 10
    /// Not documented by Apple: a frame of command 2 is not made of items as it should be.
    public static let invalidFrameItem: MockBinaryStatus = 128
    public static let unknown: MockBinaryStatus = 255
}
