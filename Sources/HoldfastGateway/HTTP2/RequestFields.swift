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
    /// Whether it is for a channel, if its path is one that there is.
    private(set) var isBroadcast = false
    /// Whether one of these is there twice.
    var hasDuplicates = false

    init() {}

    init(_ headers: [HeaderField]) {
        var hasDuplicates = false
        for field in headers {
            let (name, value) = (field.name, field.value)
            // By length first: most names differ in it, and comparing two long strings is not free.
            switch name.utf8.count {
            case 5 where name == ":path": Self.set(&path, value, &hasDuplicates)
            case 7 where name == ":method": Self.set(&method, value, &hasDuplicates)
            case 7 where name == "apns-id": Self.set(&id, value, &hasDuplicates)
            case 10 where name == "apns-topic": Self.set(&topic, value, &hasDuplicates)
            case 13 where name == "authorization": Self.set(&authorization, value, &hasDuplicates)
            case 13 where name == "apns-priority": Self.set(&priority, value, &hasDuplicates)
            case 14 where name == "apns-push-type": Self.set(&pushType, value, &hasDuplicates)
            case 15 where name == "apns-expiration": Self.set(&expiration, value, &hasDuplicates)
            case 15 where name == "apns-channel-id": Self.set(&channelID, value, &hasDuplicates)
            case 15 where name == "apns-request-id": Self.set(&requestID, value, &hasDuplicates)
            case 16 where name == "apns-collapse-id": Self.set(&collapseID, value, &hasDuplicates)
            case 28 where name == "holdfast-token-registered-at": Self.set(&registeredAt, value, &hasDuplicates)
            default: break
            }
        }
        self.hasDuplicates = hasDuplicates
        isBroadcast = path?.utf8.dropFirst().first == UInt8(ascii: "4")
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
