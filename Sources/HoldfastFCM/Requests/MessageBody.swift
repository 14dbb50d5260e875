internal import Holdfast

/// Writes the body of each request: the stored message, which is Google's `Message` without its target, spliced with the target
/// and the time to live. It is copied, and not parsed, unless a byte scan tells that it may have an `android` part.
struct MessageBody: Sendable {
    /// What stands before the members of the message.
    private let head: [UInt8]
    private let idKey: String?

    /// The most that a `ttl` may be: four weeks (firebase.google.com: *Setting the lifespan of a message*).
    static let greatestTTL: Int64 = 28 * 86_400

    init(validatesOnly: Bool, idKey: String?) {
        head = Array((validatesOnly ? #"{"validateOnly":true,"message":{"# : #"{"message":{"#).utf8)
        self.idKey = idKey
    }

    private static let fid = Array(#""fid":""#.utf8)
    private static let token = Array(#""token":""#.utf8)
    private static let topic = Array(#""topic":""#.utf8)
    private static let condition = Array(#""condition":""#.utf8)

    /// The beginning of the member of a message that names a target; nil for an address of another service.
    private static func member(_ kind: ServiceAddress.Kind) -> [UInt8]? {
        switch kind {
        case .firebaseInstallation: fid
        case .firebaseToken: token
        case .firebaseTopic: topic
        case .firebaseCondition: condition
        default: nil
        }
    }

    /// Appends the body.
    ///
    /// - Returns: false for an entry that is none for FCM; then `body` is of no use.
    func append(
        _ fields: PackedNotification.Fields, of bytes: [UInt8], at now: WallTime, to body: inout [UInt8]
    ) -> Bool {
        guard let member = fields.service.flatMap(Self.member), fields.payloadKind == .json,
            let stored = Self.members(of: bytes, in: fields.payload)
        else { return false }
        body.append(contentsOf: head)
        body.append(contentsOf: member)
        JSONText.append(bytes[fields.address], to: &body)
        body.append(UInt8(ascii: "\""))
        var edits: [MessageEdit] = []
        if let seconds = timeToLive(fields, at: now) {
            if let changes = MessageTimeToLive.edits(to: seconds, bytes, in: fields.payload) {
                edits = changes
            } else {
                body.append(contentsOf: #","android":{"ttl":""#.utf8)
                body.append(contentsOf: String(seconds).utf8)
                body.append(contentsOf: #"s"}"#.utf8)
            }
        }
        if let idKey { addID(fields.id, idKey, bytes, in: fields.payload, &edits, to: &body) }
        if bytes[stored.lowerBound] != UInt8(ascii: "}") { body.append(UInt8(ascii: ",")) }
        MessageEdit.append(bytes, in: stored, edits, to: &body)
        body.append(UInt8(ascii: "}"))
        return true
    }

    /// The rest of an object behind its `{` and the space that follows; nil where there is none.
    private static func members(of bytes: [UInt8], in range: Range<Int>) -> Range<Int>? {
        var start = range.lowerBound
        func skipSpace() {
            while start < range.upperBound, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[start]) { start += 1 }
        }
        skipSpace()
        guard start < range.upperBound, bytes[start] == UInt8(ascii: "{") else { return nil }
        start += 1
        skipSpace()
        return start < range.upperBound ? start..<range.upperBound : nil
    }

    // MARK: The time to live

    /// The seconds that are left; nil where none are said.
    private func timeToLive(_ fields: PackedNotification.Fields, at now: WallTime) -> Int64? {
        guard let expiration = fields.expirationToSend else { return nil }
        return expiration == 0 ? 0 : min(max(expiration - now.seconds, 0), Self.greatestTTL)
    }

    // MARK: The id

    /// The most bytes that the id under this key adds to a message.
    static func idByteCount(_ key: String?) -> Int {
        key.map { #","data":{"":"00000000-0000-0000-0000-000000000000"}"#.utf8.count + $0.utf8.count } ?? 0
    }

    /// Puts the id into the message's data. Looks at the members of the message, which the plain form does not.
    private func addID(
        _ id: NotificationID, _ key: String, _ bytes: [UInt8], in payload: Range<Int>, _ edits: inout [MessageEdit],
        to body: inout [UInt8]
    ) {
        guard let data = Self.data(of: bytes, in: payload, besides: key) else { return }
        var member = Array("\"\(key)\":\"".utf8)
        id.appendCanonical(to: &member)
        member.append(UInt8(ascii: "\""))
        switch data {
        case .missing:
            body.append(contentsOf: #","data":{"#.utf8)
            body.append(contentsOf: member)
            body.append(UInt8(ascii: "}"))
        case .present(let start, let isEmpty):
            if !isEmpty { member.append(UInt8(ascii: ",")) }
            edits.append(MessageEdit(range: start..<start, bytes: member))
        }
    }

    private enum DataMember {
        case missing
        /// Where its members begin, and whether there is none.
        case present(start: Int, isEmpty: Bool)
    }

    /// Where an id can go; nil where the message has this key already, or has data that is no object.
    private static func data(of bytes: [UInt8], in payload: Range<Int>, besides key: String) -> DataMember? {
        let span = bytes.span
        do throws(JSONFault) {
            var members = try JSONMembers(span, in: payload)
            while let member = try members.next(span) {
                guard JSONScanner.isString(span, in: member.name, equalTo: "data") else { continue }
                guard member.value.kind == .object else { return nil }
                var isEmpty = true
                var inner = try JSONMembers(span, in: member.value.range)
                while let entry = try inner.next(span) {
                    isEmpty = false
                    if JSONScanner.isString(span, in: entry.name, equalTo: key) { return nil }
                }
                return .present(start: member.value.range.lowerBound + 1, isEmpty: isEmpty)
            }
            return .missing
        } catch {
            return nil
        }
    }
}
