/// The address of one app on one device: 1 to 100 opaque bytes, 32 of them today.
///
/// Tokens are compared by their bytes, so the case of the digits does not matter.
public struct DeviceToken: Hashable, Sendable {
    /// The most bytes a token may have: 200 digits, which is what Apple's HTTP/2 interface takes.
    public static let maximumByteCount = 100

    /// The token itself; never empty, never longer than ``maximumByteCount``.
    public let bytes: [UInt8]

    /// - Returns: nil when there are no bytes, or more than ``maximumByteCount``.
    public init?(bytes: [UInt8]) {
        guard (1...Self.maximumByteCount).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// For bytes whose number was checked where they were read.
    init(checked bytes: [UInt8]) {
        assert((1...Self.maximumByteCount).contains(bytes.count))
        self.bytes = bytes
    }

    /// 32 bytes of zero: of the right form, and no device's.
    package static let ofNobody = DeviceToken(checked: [UInt8](repeating: 0, count: 32))

    /// Parses an even number of hex digits, 2 to 200, of either case.
    ///
    /// - Throws: ``Refusal`` with reason `BadDeviceToken`, or `MissingDeviceToken` for an empty text.
    public init(_ hex: some StringProtocol) throws(Refusal) {
        try self.init(digits: Array(hex.utf8))
    }

    /// Parses a token as people paste it: `<efc7492b dbd8209f …>`, with spaces, dashes, colons, angle brackets or a
    /// leading `0x`. What remains must be a token.
    ///
    /// - Throws: ``Refusal`` with reason `BadDeviceToken`, or `MissingDeviceToken` when nothing remains.
    public init(sanitizing text: some StringProtocol) throws(Refusal) {
        var rest = Substring(text)
        while let first = rest.first, first.isWhitespace || first == "<" { rest.removeFirst() }
        if rest.hasPrefix("0x") || rest.hasPrefix("0X") { rest.removeFirst(2) }
        try self.init(digits: rest.utf8.filter { byte in !Self.decoration.contains(byte) })
    }

    private static let decoration = Set(" \t\r\n<>-:\u{22}'".utf8)

    private init(digits: [UInt8]) throws(Refusal) {
        let count = digits.count
        guard count > 0 else { throw Refusal(.missingDeviceToken, "the device token is empty") }
        guard count.isMultiple(of: 2), count <= 2 * Self.maximumByteCount else {
            throw Refusal(
                .badDeviceToken, "a device token has an even number of hex digits, 2 to 200; this one has \(count)")
        }
        guard let bytes = Hex.bytes(digits.span) else {
            throw Refusal(.badDeviceToken, "a device token has hex digits only")
        }
        self.bytes = bytes
    }

    /// The whole token as lower-case hex digits. It is personal data: use ``shortened`` in logs.
    public var hex: String { Hex.string(bytes) }

    /// The first and last four digits, for logs and listings.
    public var shortened: String {
        bytes.count <= 4 ? hex : "\(Hex.string(bytes.prefix(2)))…\(Hex.string(bytes.suffix(2)))"
    }
}

extension DeviceToken: CustomStringConvertible {
    /// The shortened form, so that a token never reaches a log whole by accident.
    public var description: String { shortened }
}
