/// Whom a notification is for.
public enum Recipient: Hashable, Sendable {
    /// One app on one device.
    case device(DeviceToken)
    /// Everybody who follows a channel with a Live Activity: a broadcast (iOS 18 and later).
    case channel(BroadcastChannel)
}

extension Recipient {
    /// What stands for it in records and on the wire: a token's bytes, or a channel's text.
    package var address: [UInt8] {
        switch self {
        case .device(let token): token.bytes
        case .channel(let channel): Array(channel.id.utf8)
        }
    }

    /// A token's hex digits, or a channel's id: how the service is told of it. A token is personal data: see
    /// ``description`` for logs.
    public var text: String {
        switch self {
        case .device(let token): token.hex
        case .channel(let channel): channel.id
        }
    }

    package var token: DeviceToken? { if case .device(let token) = self { token } else { nil } }

    package var channel: BroadcastChannel? { if case .channel(let channel) = self { channel } else { nil } }
}

extension Recipient: CustomStringConvertible {
    /// A token is shortened; a channel is nobody's secret.
    public var description: String {
        switch self {
        case .device(let token): token.shortened
        case .channel(let channel): channel.id
        }
    }
}

/// A channel that Live Activities of one app follow, by the id that Apple gave it when it was created: base64 text, such as
/// `dHN0LXNyY2gtY2hubA==`. It exists in one environment only.
public struct BroadcastChannel: Hashable, Sendable {
    /// The most characters an id may have; Apple's have 24.
    public static let maximumCharacterCount = 100

    /// The `apns-channel-id`, as Apple spells it.
    public let id: String

    /// - Parameter id: 4 to 100 characters of base64 with its padding.
    /// - Throws: ``Refusal`` with reason `BadChannelId`, or `MissingChannelId` for an empty text.
    public init(_ id: some StringProtocol) throws(Refusal) {
        let characters = Array(id.utf8)
        if characters.isEmpty { throw Refusal(.missingChannelID, "the channel id is empty") }
        guard characters.count <= Self.maximumCharacterCount else {
            throw Refusal(
                .badChannelID,
                "a channel id has at most \(Self.maximumCharacterCount) characters; this one has \(characters.count)")
        }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard characters.count.isMultiple(of: 4), padding <= 2, characters.dropLast(padding).allSatisfy(Self.isDigit)
        else {
            throw Refusal(.badChannelID, "a channel id is base64 text, as Apple gave it when the channel was created")
        }
        self.id = String(id)
    }

    /// For text that was checked before it was journaled.
    package init(checked id: String) { self.id = id }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

extension BroadcastChannel: CustomStringConvertible {
    public var description: String { id }
}
