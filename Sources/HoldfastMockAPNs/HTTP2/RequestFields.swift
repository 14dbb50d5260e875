import HoldfastHTTP2
import HoldfastMocking

/// The header fields of a request that the push service reads.
struct RequestFields {
    static let pathPrefix = "/3/device/"

    private enum Name: Int, CaseIterable {
        case authorization, id, requestID, channel, topic, pushType, priority, expiration, collapseID

        var text: String {
            switch self {
            case .authorization: "authorization"
            case .id: "apns-id"
            case .requestID: "apns-request-id"
            case .channel: "apns-channel-id"
            case .topic: "apns-topic"
            case .pushType: "apns-push-type"
            case .priority: "apns-priority"
            case .expiration: "apns-expiration"
            case .collapseID: "apns-collapse-id"
            }
        }
    }

    /// The names that the session tells apart by number.
    static let names = HeaderNames(Name.allCases.map(\.text))

    private let fields: HeaderSelection

    let path: String?

    init(_ fields: HeaderSelection) {
        self.fields = fields
        path = fields.text(HeaderSelection.path)
    }

    private subscript(name: Name) -> String? { fields.text(name.rawValue) }

    var method: String? { fields.text(HeaderSelection.method) }
    var authorization: String? { self[.authorization] }
    /// The id of a notification to a device.
    var id: String? { self[.id] }
    /// The id of a broadcast, or of a request about channels.
    var requestID: String? { self[.requestID] }
    /// The channel that a broadcast goes to.
    var channel: String? { self[.channel] }
    var topic: String? { self[.topic] }
    var pushType: String? { self[.pushType] }
    var priority: String? { self[.priority] }
    var expiration: String? { self[.expiration] }
    var collapseID: String? { self[.collapseID] }
    /// Whether ``id`` is well-formed; false where there is none.
    var hasWellFormedID: Bool { id.map(RequestValidator.isNotificationID) ?? false }
    /// Whether one of these fields occurs twice.
    var hasDuplicates: Bool { fields.hasDuplicates }

    /// Whether both have the same authorization.
    func hasAuthorization(of other: RequestFields) -> Bool {
        fields.isSame(Name.authorization.rawValue, as: other.fields)
    }

    /// Whether everything but method, path, id and authorization is as in `other`.
    func hasAttributes(of other: RequestFields) -> Bool {
        let attributes: [Name] = [.topic, .pushType, .priority, .expiration, .collapseID]
        return attributes.allSatisfy { fields.isSame($0.rawValue, as: other.fields) }
    }

    /// A copy to compare later requests with.
    func kept() -> RequestFields { RequestFields(fields.kept()) }

    /// The token in the path, as it came.
    var token: String {
        guard let path, path.hasPrefix(Self.pathPrefix) else { return "" }
        return String(path.dropFirst(Self.pathPrefix.utf8.count))
    }
}
