internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastTransport

/// The header fields of a request that the gateway reads.
///
/// A field becomes a string only on demand: fields that a sender repeats in each request are compared as bytes.
struct RequestFields: Sendable {
    /// Before a device token.
    static let devicePath = Array("/3/device/".utf8)
    private static let broadcasts = Array("/4/broadcasts/".utf8)
    /// Before a bundle identifier.
    static let broadcastPath = Array("/4/broadcasts/apps/".utf8)
    /// Before a project of Google's.
    static let projects = Array("/v1/projects/".utf8)
    private static let token = Array("/token".utf8)

    /// The interface that a request uses, by the beginning of its path.
    enum Purpose: Sendable {
        /// A device of Apple's, or nothing that there is.
        case device
        /// A channel of Apple's, be the rest of the path valid or not.
        case broadcast
        /// Google's interface for messages, be the rest of the path valid or not.
        case message
        /// An access token for Google's interface.
        case accessToken
    }

    private enum Name: Int, CaseIterable {
        case authorization, id, topic, pushType, priority, expiration, collapseID, channelID, requestID, registeredAt
        case guarantee, answer, environment
        // The last ones are those that few requests have: see ``HeaderSelection/maxNames``.
        case tag, producer, deliverAfter, deliverWithin, context, newestWins, host, messageID
        // Those that may be there more than once: what is wrong with a trace is no fault of the request, and each that passes it
        // on may add a `via`.
        case traceparent, tracestate, via

        var text: String {
            switch self {
            case .authorization: "authorization"
            case .id: "apns-id"
            case .topic: "apns-topic"
            case .pushType: "apns-push-type"
            case .priority: "apns-priority"
            case .expiration: "apns-expiration"
            case .collapseID: "apns-collapse-id"
            case .channelID: "apns-channel-id"
            case .requestID: "apns-request-id"
            case .registeredAt: "holdfast-token-registered-at"
            case .guarantee: "holdfast-guarantee"
            case .answer: "holdfast-answer"
            case .environment: "holdfast-environment"
            case .tag: "holdfast-tag"
            case .producer: "holdfast-producer"
            case .deliverAfter: "holdfast-deliver-after"
            case .deliverWithin: "holdfast-deliver-within"
            case .context: "holdfast-context"
            case .newestWins: "holdfast-newest-wins"
            case .host: "host"
            case .messageID: "holdfast-id"
            case .traceparent: "traceparent"
            case .tracestate: "tracestate"
            case .via: RelayMark.field
            }
        }
    }

    /// Names that the session tells apart by number.
    static let names = HeaderNames(Name.allCases.map(\.text))

    /// Holdfast's own names begin so, and no others do.
    static let ownBeginning = Array("holdfast-".utf8)
    static let ownNames = Name.allCases.map(\.text).filter { $0.utf8.starts(with: ownBeginning) }

    private let fields: HeaderSelection
    let purpose: Purpose
    /// Whether its path is of broadcasts, be it valid or not.
    var isBroadcast: Bool { purpose == .broadcast }

    /// The number of the first of the names that may be there more than once.
    static let firstRepeatable = Name.traceparent.rawValue

    init(_ fields: HeaderSelection = HeaderSelection()) {
        self.fields = fields
        purpose = fields.withBytes(HeaderSelection.path) { Self.purpose(of: $0) }
    }

    private static func purpose(of path: Span<UInt8>) -> Purpose {
        guard path.count > 1 else { return .device }
        switch path[1] {
        case UInt8(ascii: "4"): return path.has(broadcasts, at: 0) ? .broadcast : .device
        case UInt8(ascii: "v"): return path.has(projects, at: 0) ? .message : .device
        case UInt8(ascii: "t"):
            let isWhole =
                path.count == token.count || path.count > token.count && path[token.count] == UInt8(ascii: "?")
            return isWhole && path.has(token, at: 0) ? .accessToken : .device
        default: return .device
        }
    }

    private subscript(name: Name) -> String? {
        name.rawValue < HeaderSelection.maxNames ? fields.text(name.rawValue) : fields.rareText(name.rawValue)
    }

    /// Whether the method is POST.
    var isPost: Bool { isMethod(Self.post) }

    /// Whether the method is HEAD: its answer has no body (RFC 9110 section 9.3.2).
    var isHead: Bool { isMethod(Self.head) }

    private func isMethod(_ method: [UInt8]) -> Bool {
        fields.withBytes(HeaderSelection.method) { $0.count == method.count && $0.has(method, at: 0) }
    }

    private static let post = Array("POST".utf8)
    private static let head = Array("HEAD".utf8)

    func pathBegins(with beginning: [UInt8]) -> Bool {
        fields.withBytes(HeaderSelection.path) { $0.has(beginning, at: 0) }
    }

    /// Has the path's bytes looked at, of which there are none where there is no path.
    func withPath<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try fields.withBytes(HeaderSelection.path, body)
    }

    var path: String? { fields.text(HeaderSelection.path) }
    var authorization: String? { self[.authorization] }
    var topic: String? { self[.topic] }
    var pushType: String? { self[.pushType] }
    var priority: String? { self[.priority] }
    var expiration: String? { self[.expiration] }
    var collapseID: String? { self[.collapseID] }
    var channelID: String? { self[.channelID] }
    /// The time at which the app last registered the token: `holdfast-token-registered-at`, for senders that know it.
    var registeredAt: String? { self[.registeredAt] }
    /// `at-most-once` asks for one attempt: `holdfast-guarantee`.
    var guarantee: String? { self[.guarantee] }
    /// The environment that the request is for: `holdfast-environment`.
    var environment: String? { self[.environment] }
    /// The host, and perhaps the port, that the client addresses: `:authority`, or `host` where there is none (RFC 9113, 8.3.1).
    var authority: String? { fields.text(HeaderSelection.authority) ?? self[.host] }
    /// Whether there is any of those that follow.
    var hasChoices: Bool { fields.hasRare || Self.choices.contains { fields.has($0) } }

    /// Those among the names that are looked up at once.
    private static let choices = min(Name.tag.rawValue, HeaderSelection.maxNames)..<HeaderSelection.maxNames

    /// The application's label: `holdfast-tag`.
    var tag: String? { self[.tag] }
    /// The name to submit under: `holdfast-producer`.
    var producer: String? { self[.producer] }
    /// The time before which it does not go: `holdfast-deliver-after`.
    var deliverAfter: String? { self[.deliverAfter] }
    /// The hours of the day within which it may go: `holdfast-deliver-within`.
    var deliverWithin: String? { self[.deliverWithin] }
    /// The application's own data: `holdfast-context`.
    var context: String? { self[.context] }
    /// Whether a newer one takes its place: `holdfast-newest-wins`.
    var newestWins: String? { self[.newestWins] }
    /// The trace that the request belongs to; `nil` for none, and for one that is not stated as the W3C has it.
    var trace: TraceContext? {
        guard fields.hasRare else { return nil }
        let parents = fields.rareTexts(Name.traceparent.rawValue)
        guard parents.count == 1 else { return nil }
        return TraceContext(
            traceparent: parents[0], tracestate: fields.rareTexts(Name.tracestate.rawValue).joined(separator: ","))
    }
    /// Whether a gateway sends it.
    var isRelayed: Bool { fields.hasRare && RelayMark.isIn(fields.rareTexts(Name.via.rawValue)) }
    /// When to answer: `holdfast-answer`.
    var answer: String? { self[.answer] }
    /// The name of a field that would be Holdfast's own, and is none: one that was misspelt must not be passed over.
    var unknownOwn: String? { fields.stranger }
    /// Whether one of these is there twice.
    var hasDuplicates: Bool { fields.hasDuplicates }

    /// The sender's id, as it is written: the apns-id, the apns-request-id of a broadcast, or the holdfast-id of a message,
    /// for which Google has none.
    var ownID: String? {
        switch purpose {
        case .device, .accessToken: self[.id]
        case .broadcast: self[.requestID]
        case .message: self[.messageID]
        }
    }

    /// `holdfast-id`, whatever the request is for.
    var messageID: String? { self[.messageID] }

    /// Whether both have the same authorization.
    func hasAuthorization(of other: RequestFields) -> Bool {
        fields.isSame(Name.authorization.rawValue, as: other.fields)
    }

    /// Whether everything that requests of one sender have in common is as in `other`.
    func hasAttributes(of other: RequestFields) -> Bool {
        isSame(.topic, other) && isSame(.pushType, other) && isSame(.priority, other) && isSame(.expiration, other)
            && isSame(.collapseID, other) && isSame(.environment, other)
            && fields.isSame(HeaderSelection.authority, as: other.fields)
            && (fields.has(HeaderSelection.authority) || self[.host] == other[.host])
    }

    @inline(__always)
    private func isSame(_ name: Name, _ other: RequestFields) -> Bool {
        fields.isSame(name.rawValue, as: other.fields)
    }

    /// The same, to be compared with later.
    func kept() -> RequestFields { RequestFields(fields.kept()) }
}
