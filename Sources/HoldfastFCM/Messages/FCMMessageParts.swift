internal import Holdfast

/// Reads the members of a message one by one, and keeps its targets, its content, its priority and its time to live.
struct FCMMessageParts {
    struct Target {
        let name: String
        let kind: ServiceAddress.Kind
        let text: String
    }

    private static let kinds: [String: ServiceAddress.Kind] = [
        "fid": .firebaseInstallation, "token": .firebaseToken, "topic": .firebaseTopic,
        "condition": .firebaseCondition,
    ]
    /// Members that are objects. Protocol buffers read both ways of writing a name; the connector knows the first.
    private static let objects: [String: String] = [
        "data": "data", "notification": "notification", "android": "android", "androidV2": "androidV2",
        "android_v2": "androidV2", "apns": "apns", "webpush": "webpush", "fcmOptions": "fcmOptions",
        "fcm_options": "fcmOptions",
    ]

    /// Members of `android` and `androidV2` with which a device shows the message.
    private static let shown = ["notification", "remoteNotification", "remote_notification"]

    private(set) var targets: [Target] = []
    /// All but the end of the object.
    private(set) var content: [UInt8] = [UInt8(ascii: "{")]
    private(set) var timeToLive: Duration?
    /// The first member of the wrong type.
    private(set) var fault: FCMMessageFault?
    private var statedPriority: Priority?
    private var isShown = false

    /// Google's defaults are high for messages that are shown, and normal for data alone (`AndroidMessagePriority`).
    var priority: Priority? { statedPriority ?? (isShown ? nil : .considerate) }

    /// A member that is null is as good as none.
    mutating func take(_ member: JSONMember, of bytes: Span<UInt8>) throws(JSONFault) {
        let name = try JSONScanner.string(bytes, in: member.name)
        let value = member.value
        guard value.kind != .null, name != "name" else { return }
        if let kind = Self.kinds[name] {
            guard value.kind == .string else { return refuse(name, "TYPE_STRING") }
            targets.append(Target(name: name, kind: kind, text: try JSONScanner.string(bytes, in: value.range)))
            return
        }
        if let own = Self.objects[name] {
            guard value.kind == .object else { return refuse(name, "an object") }
            switch own {
            case "data": try checkData(bytes, in: value.range)
            case "android", "androidV2": try readAndroid(bytes, in: value.range, name: name)
            // What is said to Apple's devices and to browsers alone may well be shown.
            case "notification", "apns", "webpush": isShown = true
            default: break
            }
        }
        if content.count > 1 { content.append(UInt8(ascii: ",")) }
        content.append(UInt8(ascii: "\""))
        JSONText.append((Self.objects[name] ?? name).utf8, to: &content)
        content.append(contentsOf: #"":"#.utf8)
        try JSONText.appendCompact(bytes, in: value.range, to: &content)
    }

    private mutating func refuse(_ field: String, _ type: String) {
        fault = fault ?? FCMMessageFault(invalid: "message.\(field)", type)
    }

    private mutating func checkData(_ bytes: Span<UInt8>, in range: Range<Int>) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            guard member.value.kind == .string else { return refuse("data", "TYPE_STRING") }
        }
    }

    private mutating func readAndroid(_ bytes: Span<UInt8>, in range: Range<Int>, name: String) throws(JSONFault) {
        var members = try JSONMembers(bytes, in: range)
        while let member = try members.next(bytes) {
            guard member.value.kind != .null else { continue }
            if JSONScanner.isString(bytes, in: member.name, equalTo: "ttl") {
                guard member.value.kind == .string,
                    let seconds = Self.seconds(try JSONScanner.string(bytes, in: member.value.range))
                else { return refuse("\(name).ttl", "type.googleapis.com/google.protobuf.Duration") }
                timeToLive = timeToLive ?? .seconds(seconds)
            } else if Self.shown.contains(where: { JSONScanner.isString(bytes, in: member.name, equalTo: $0) }) {
                isShown = true
            } else if JSONScanner.isString(bytes, in: member.name, equalTo: "priority") {
                guard let read = try Self.priority(bytes, member.value) else {
                    return refuse(
                        "\(name).priority", "type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority")
                }
                statedPriority = statedPriority ?? read
            }
        }
    }

    /// `3600s`, `3.5s`: whole seconds, at most four weeks; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        guard text.hasSuffix("s") else { return nil }
        let parts = text.dropLast().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...10).contains(parts[0].count),
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.count == 1 || (1...9).contains(parts[1].count),
            let seconds = Int64(String(decoding: Array(parts[0]), as: UTF8.self)), seconds <= MessageBody.greatestTTL
        else { return nil }
        return seconds
    }

    /// By its name in either case, or its number.
    private static func priority(_ bytes: Span<UInt8>, _ value: JSONValue) throws(JSONFault) -> Priority? {
        switch value.kind {
        case .string:
            switch try JSONScanner.string(bytes, in: value.range).lowercased() {
            case "high": .immediate
            case "normal": .considerate
            default: nil
            }
        case .number:
            switch try JSONScanner.integer(bytes, in: value.range) {
            case 1: .immediate
            case 0: .considerate
            default: nil
            }
        default: nil
        }
    }
}
