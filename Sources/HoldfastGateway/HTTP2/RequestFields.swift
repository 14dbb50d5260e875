internal import HoldfastHTTP2

/// The header fields of a request that are looked at.
struct RequestFields: Sendable {
    /// Before a device token.
    static let devicePath = "/3/device/"
    /// Before a bundle identifier.
    static let broadcastPath = "/4/broadcasts/apps/"

    var method: String?
    var path: String?
    var authorization: String?
    var id: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    var channelID: String?
    /// What a broadcast has for its apns-id.
    var requestID: String?
    /// When the app last registered the token: `holdfast-token-registered-at`, for senders that know it.
    var registeredAt: String?
    /// `at-most-once` asks for one attempt: `holdfast-guarantee`.
    var guarantee: String?
    /// Whether it is for a channel, if its path is one that there is.
    private(set) var isBroadcast = false
    /// Whether one of these is there twice.
    var hasDuplicates = false

    init() {}

    init(_ headers: [HeaderField]) {
        let fields = headers.span
        // Where they lie: a copy of each would be two more references to count.
        for index in fields.indices { take(fields[index]) }
        isBroadcast = path?.utf8.dropFirst().first == UInt8(ascii: "4")
    }

    @inline(__always)
    private mutating func take(_ field: borrowing HeaderField) {
        // By length first: most names differ in it, and comparing two long strings is not free.
        switch field.name.utf8.count {
        case 5 where field.name == ":path": Self.set(&path, field.value, &hasDuplicates)
        case 7 where field.name == ":method": Self.set(&method, field.value, &hasDuplicates)
        case 7 where field.name == "apns-id": Self.set(&id, field.value, &hasDuplicates)
        case 10 where field.name == "apns-topic": Self.set(&topic, field.value, &hasDuplicates)
        case 13 where field.name == "authorization": Self.set(&authorization, field.value, &hasDuplicates)
        case 13 where field.name == "apns-priority": Self.set(&priority, field.value, &hasDuplicates)
        case 14 where field.name == "apns-push-type": Self.set(&pushType, field.value, &hasDuplicates)
        case 15 where field.name == "apns-expiration": Self.set(&expiration, field.value, &hasDuplicates)
        case 15 where field.name == "apns-channel-id": Self.set(&channelID, field.value, &hasDuplicates)
        case 15 where field.name == "apns-request-id": Self.set(&requestID, field.value, &hasDuplicates)
        case 16 where field.name == "apns-collapse-id": Self.set(&collapseID, field.value, &hasDuplicates)
        case 18 where field.name == "holdfast-guarantee": Self.set(&guarantee, field.value, &hasDuplicates)
        case 28 where field.name == "holdfast-token-registered-at":
            Self.set(&registeredAt, field.value, &hasDuplicates)
        default: break
        }
    }

    /// The sender's id, as it is written: the apns-id, or the apns-request-id of a broadcast.
    var ownID: String? { isBroadcast ? requestID : id }

    @inline(__always)
    private static func set(_ field: inout String?, _ value: String, _ hasDuplicates: inout Bool) {
        if field == nil { field = value } else { hasDuplicates = true }
    }

    /// Whether everything that requests of one sender have in common is as in `other`.
    func hasAttributes(of other: RequestFields) -> Bool {
        topic == other.topic && pushType == other.pushType && priority == other.priority
            && expiration == other.expiration && collapseID == other.collapseID
    }
}
