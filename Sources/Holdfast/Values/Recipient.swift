/// The recipient of a notification. ``service(_:)`` covers every service other than Apple's, so no case is added.
public enum Recipient: Hashable, Sendable {
    /// One app on one device.
    case device(DeviceToken)
    /// All devices that follow a channel with a Live Activity: a broadcast (iOS 18 and later).
    case channel(BroadcastChannel)
    /// An address at a service other than Apple's.
    case service(ServiceAddress)
}

extension Recipient {
    /// The bytes in records and on the wire: a token's, a channel's text, or another service's address.
    package var address: [UInt8] {
        switch self {
        case .device(let token): token.bytes
        case .channel(let channel): Array(channel.id.utf8)
        case .service(let address): address.bytes
        }
    }

    /// How many bytes ``address`` has.
    package var addressByteCount: Int {
        switch self {
        case .device(let token): token.bytes.count
        case .channel(let channel): channel.id.utf8.count
        case .service(let address): address.bytes.count
        }
    }

    /// The recipient as its service spells it: a token's hex digits, a channel's id, or another service's text. A token is
    /// personal data: use ``description`` in logs.
    public var text: String {
        switch self {
        case .device(let token): token.hex
        case .channel(let channel): channel.id
        case .service(let address): address.text
        }
    }

    /// Whether the recipient is a channel or a topic that devices follow, and not a device. It is never blacklisted then.
    public var isBroadcast: Bool {
        switch self {
        case .device: false
        case .channel: true
        case .service(let address): address.kind.isBroadcast
        }
    }

    /// The text from which ``init(notation:)`` makes the same recipient: a token's hex digits, or another service's
    /// ``ServiceAddress/notation``. (A channel's id is not read back.)
    public var notation: String {
        switch self {
        case .device, .channel: text
        case .service(let address): address.notation
        }
    }

    /// Parses a token's hex digits, or the ``ServiceAddress/notation`` of another service's address.
    ///
    /// - Throws: ``Refusal`` with reason `BadDeviceToken`, `MissingDeviceToken` or `BadAddress`.
    public init(notation: some StringProtocol) throws(Refusal) {
        if notation.utf8.contains(where: ServiceAddress.isSeparator) {
            self = .service(try ServiceAddress(notation: notation))
        } else {
            self = .device(try DeviceToken(notation))
        }
    }

    /// The word for it in messages.
    package var noun: String {
        switch self {
        case .device: "token"
        case .channel: "channel"
        case .service: "address"
        }
    }

    /// The recipient itself, if it is a device that can be blacklisted; `nil` for a broadcast.
    package var device: Recipient? { isBroadcast ? nil : self }

    package var token: DeviceToken? { if case .device(let token) = self { token } else { nil } }

    package var channel: BroadcastChannel? { if case .channel(let channel) = self { channel } else { nil } }

    package var serviceAddress: ServiceAddress? { if case .service(let address) = self { address } else { nil } }
}

extension Recipient: CustomStringConvertible {
    /// The recipient, shortened if it is a device, for logs and listings.
    public var description: String {
        switch self {
        case .device(let token): token.shortened
        case .channel(let channel): channel.id
        case .service(let address): address.description
        }
    }
}

/// A channel that Live Activities of one app follow: the id that Apple assigned when it was created, base64 text such as
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
    /// The ``id``.
    public var description: String { id }
}
