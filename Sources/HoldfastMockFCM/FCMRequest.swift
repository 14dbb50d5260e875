import Foundation
import HoldfastHTTP2
import HoldfastMocking

/// The header fields of a request that the service reads.
struct FCMRequestFields {
    private enum Name: Int, CaseIterable {
        case authorization, contentType

        var text: String {
            switch self {
            case .authorization: "authorization"
            case .contentType: "content-type"
            }
        }
    }

    /// The names that the session tells apart by number.
    static let names = HeaderNames(Name.allCases.map(\.text))

    let method: String?
    let path: String?
    let authorization: String?
    let contentType: String?

    init(_ fields: HeaderSelection) {
        method = fields.text(HeaderSelection.method)
        path = fields.text(HeaderSelection.path)
        authorization = fields.text(Name.authorization.rawValue)
        contentType = fields.text(Name.contentType.rawValue)
    }

    /// The project of `/v1/projects/PROJECT/messages:send`; nil for another path.
    var project: String? {
        guard let path, path.hasPrefix("/v1/projects/"), path.hasSuffix("/messages:send") else { return nil }
        let project = path.dropFirst("/v1/projects/".count).dropLast("/messages:send".count)
        return project.isEmpty || project.contains("/") ? nil : String(project)
    }
}

/// The body of a request, judged as Google documents it (firebase.google.com: *REST Resource: projects.messages*). Read with
/// Foundation, so that the sender's own reader is not its judge.
struct FCMMessage {
    static let kinds = ["fid", "token", "topic", "condition"]
    /// Bytes of a message without its target.
    static let greatestByteCount = 4096
    private static let members: Set<String> = [
        "name", "data", "notification", "android", "androidV2", "android_v2", "webpush", "apns", "fcmOptions",
        "fcm_options", "fid", "token", "topic", "condition",
    ]

    var isValidatedOnly = false
    /// The member that names the target, and its text.
    var kind = ""
    var target = ""
    /// The seconds of `android.ttl`; nil where there is none.
    var ttl: Double?
    /// Its id in the ledger.
    var id = ""

    /// - Throws: the refusal.
    init(_ body: [UInt8], idKey: String) throws(MockFault) {
        guard let root = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] else {
            throw MockFault("Invalid JSON payload received. Expected a value.")
        }
        for name in root.keys where !["message", "validateOnly", "validate_only"].contains(name) {
            throw MockFault("Invalid JSON payload received. Unknown name \"\(name)\": Cannot find field.")
        }
        isValidatedOnly = (root["validateOnly"] ?? root["validate_only"]) as? Bool ?? false
        guard let message = (root["message"] as? [String: Any]).map(Self.withoutNulls) else {
            throw MockFault("Message is not set.", "message")
        }
        for name in message.keys where !Self.members.contains(name) {
            throw MockFault("Invalid JSON payload received. Unknown name \"\(name)\" at 'message': Cannot find field.")
        }
        try readTarget(message)
        let data = try Self.data(message["data"])
        try readTimeToLive(message["android"])
        var content = message
        for kind in Self.kinds { content[kind] = nil }
        guard
            Self.byteCount(content) <= Self.greatestByteCount
                || Self.byteCount(content, countsTTL: false) <= Self.greatestByteCount
        else { throw MockFault("Message is too big.", "message") }
        id = data[idKey] ?? MessageMark.digest(content)
    }

    /// In the JSON of protocol buffers, a member that is null is as good as none (protobuf.dev: *ProtoJSON Format*).
    private static func withoutNulls(_ message: [String: Any]) -> [String: Any] {
        message.values.contains { $0 is NSNull } ? message.filter { !($0.value is NSNull) } : message
    }

    /// The bytes that count. Google counts payload, keys and values (firebase.google.com: *ErrorCode*), to which the time that it
    /// stores a message does not belong.
    private static func byteCount(_ content: [String: Any], countsTTL: Bool = true) -> Int {
        var content = content
        for name in ["android", "androidV2", "android_v2"] where !countsTTL {
            guard var part = content[name] as? [String: Any] else { continue }
            part["ttl"] = nil
            content[name] = part.isEmpty ? nil : part
        }
        return (try? JSONSerialization.data(withJSONObject: content))?.count ?? 0
    }

    private mutating func readTarget(_ message: [String: Any]) throws(MockFault) {
        let named = Self.kinds.filter { message[$0] != nil }
        guard let kind = named.first, named.count == 1 else {
            throw MockFault(
                named.isEmpty
                    ? "Recipient of the message is not set."
                    : "Exactly one of the recipients of the message must be set.",
                "message")
        }
        guard let target = message[kind] as? String, !target.isEmpty else {
            throw MockFault("The registration token is not a valid FCM registration token", "message.\(kind)")
        }
        if kind == "topic", !target.utf8.allSatisfy(Self.isOfTopic) {
            throw MockFault("Malformed topic name", "message.topic")
        }
        (self.kind, self.target) = (kind, target)
    }

    /// `[a-zA-Z0-9-_.~%]+`
    private static func isOfTopic(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || (0x30...0x39).contains(byte)
            || Array("-_.~%".utf8).contains(byte)
    }

    private static func data(_ value: Any?) throws(MockFault) -> [String: String] {
        guard let value else { return [:] }
        guard let data = value as? [String: String] else {
            throw MockFault("Invalid value at 'message.data' (TYPE_STRING)", "message.data")
        }
        return data
    }

    private mutating func readTimeToLive(_ value: Any?) throws(MockFault) {
        guard let android = value as? [String: Any], let text = android["ttl"], !(text is NSNull) else { return }
        guard let text = text as? String, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
            (0...28 * 86_400).contains(seconds)
        else { throw MockFault("Invalid value at 'message.android.ttl'", "message.android.ttl") }
        ttl = seconds
    }
}

/// A message that is not as it should be.
struct MockFault: Error {
    let description: String
    /// The field that is wrong: `message.token`.
    let field: String?

    init(_ description: String, _ field: String? = nil) {
        (self.description, self.field) = (description, field)
    }
}
