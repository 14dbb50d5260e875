import HoldfastHTTP2

/// The header fields of a request that the push service looks at.
struct RequestFields {
    static let pathPrefix = "/3/device/"

    var method: String?
    var path: String?
    var authorization: String?
    /// Of a notification to a device.
    var id: String?
    /// Of a broadcast, or of what is done about channels.
    var requestID: String?
    /// What a broadcast goes to.
    var channel: String?
    var topic: String?
    var pushType: String?
    var priority: String?
    var expiration: String?
    var collapseID: String?
    /// Whether ``id`` has the form of one; false where there is none.
    var hasWellFormedID = false
    /// Whether one of these is there twice.
    var hasDuplicates = false

    init() {}

    init(_ headers: [HeaderField]) {
        for field in headers {
            let (name, value) = (field.name, field.value)
            // By length first: most names differ in it, and comparing two long strings is not free.
            switch name.utf8.count {
            case 5 where name == ":path": set(\.path, value)
            case 7 where name == ":method": set(\.method, value)
            case 7 where name == "apns-id": set(\.id, value)
            case 10 where name == "apns-topic": set(\.topic, value)
            case 13 where name == "authorization": set(\.authorization, value)
            case 13 where name == "apns-priority": set(\.priority, value)
            case 14 where name == "apns-push-type": set(\.pushType, value)
            case 15 where name == "apns-expiration": set(\.expiration, value)
            case 15 where name == "apns-channel-id": set(\.channel, value)
            case 15 where name == "apns-request-id": set(\.requestID, value)
            case 16 where name == "apns-collapse-id": set(\.collapseID, value)
            default: break
            }
        }
        if let id { hasWellFormedID = RequestValidator.isNotificationID(id) }
    }

    @inline(__always)
    private mutating func set(_ field: WritableKeyPath<RequestFields, String?>, _ value: String) {
        if self[keyPath: field] == nil { self[keyPath: field] = value } else { hasDuplicates = true }
    }

    /// Whether everything but method, path, id and authorization is as in `other`.
    func hasAttributes(of other: RequestFields) -> Bool {
        topic == other.topic && pushType == other.pushType && priority == other.priority
            && expiration == other.expiration && collapseID == other.collapseID
    }

    /// What stands in the path for the token, as it came.
    var token: String {
        guard let path, path.hasPrefix(Self.pathPrefix) else { return "" }
        return String(path.dropFirst(Self.pathPrefix.utf8.count))
    }
}
