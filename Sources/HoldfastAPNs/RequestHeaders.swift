internal import Holdfast
internal import HoldfastHTTP2
internal import HoldfastRequests

/// Writes the header block of each request, for one connection.
///
/// As Apple asks (*Sending notification requests to APNs*): `:path` and `authorization` are literals that are never
/// indexed; the others go into the peer's dynamic table (``HeaderTable``) when they first occur.
struct RequestHeaders: Sendable {
    /// By their places in the table.
    private enum Name {
        static let authority = 0
        static let topic = 1
        static let pushType = 2
        static let priority = 3
        static let expiration = 4
        static let id = 5
        static let collapseID = 6
        static let requestID = 7
        static let channelID = 8
        static let via = 9

        static let all =
            [HeaderTable.Name(":authority", staticIndex: HPACKStaticIndex.authority)]
            + [
                "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id",
                "apns-request-id", "apns-channel-id",
            ].map { HeaderTable.Name($0) } + [HeaderTable.Name("via", staticIndex: HPACKStaticIndex.via)]
    }

    private let authority: [UInt8]
    private let schemeIndex: Int
    private let via: [UInt8]
    private var table = HeaderTable(Name.all)

    /// The authorization field, encoded; empty for none.
    private var authorizationField: [UInt8] = []
    /// Topic, push type, priority and `via` of the last request, encoded, while the table has not changed since.
    private var repeated: (topic: [UInt8], pushType: UInt8, priority: UInt8, field: [UInt8], version: Int)?

    /// Notifications accepted in the same second share their default expiration.
    private var lastExpiration: (value: Int64, digits: [UInt8]) = (0, [UInt8(ascii: "0")])

    /// - Parameter via: the value of `via`; nil for none.
    init(authority: String, isCleartext: Bool, via: String? = nil) {
        self.authority = Array(authority.utf8)
        self.via = Array((via ?? "").utf8)
        schemeIndex = isCleartext ? HPACKStaticIndex.schemeHTTP : HPACKStaticIndex.schemeHTTPS
    }

    /// - Parameter authorization: the whole value, `bearer …`; empty for none.
    mutating func setAuthorization(_ authorization: [UInt8]) {
        authorizationField.removeAll(keepingCapacity: true)
        guard !authorization.isEmpty else { return }
        HPACKWriter.appendLiteral(
            nameIndex: HPACKStaticIndex.authorization, value: authorization, indexing: .without, to: &authorizationField
        )
    }

    /// The peer allows its table this much from now on.
    mutating func setPeerTableSize(_ size: Int) { table.setPeerSize(size) }

    /// Appends the header block for one notification.
    mutating func append(_ fields: PackedNotification.Fields, of bytes: [UInt8], to block: inout [UInt8]) {
        table.begin(&block)
        HPACKWriter.appendIndexed(HPACKStaticIndex.methodPost, to: &block)
        HPACKWriter.appendIndexed(schemeIndex, to: &block)
        appendPath(fields, of: bytes, to: &block)
        let authorityIndex = table.index(of: Name.authority)
        if authorityIndex > 0 {
            HPACKWriter.appendIndexed(authorityIndex, to: &block)
        } else {
            table.appendField(Name.authority, authority[...], to: &block)
        }
        block.append(contentsOf: authorizationField)
        if fields.isBroadcast {
            appendPushType(fields, to: &block)
            appendVia(to: &block)
            table.appendValue(Name.channelID, bytes[fields.address], to: &block)
            appendID(fields.id, as: Name.requestID, to: &block)
        } else {
            appendRepeated(fields, of: bytes, to: &block)
            appendID(fields.id, as: Name.id, to: &block)
        }
        if let expiration = fields.expirationToSend { appendExpiration(expiration, to: &block) }
        if !fields.collapseID.isEmpty { table.appendValue(Name.collapseID, bytes[fields.collapseID], to: &block) }
    }

    private static let devicePath = Array("/3/device/".utf8)
    /// Before the bundle identifier (*Sending broadcast push notification requests to APNs*).
    private static let broadcastPath = Array("/4/broadcasts/apps/".utf8)

    private func appendPath(_ fields: PackedNotification.Fields, of bytes: [UInt8], to block: inout [UInt8]) {
        HPACKWriter.appendInteger(HPACKStaticIndex.path, prefix: 4, bits: 0, to: &block)
        if fields.isBroadcast {
            HPACKWriter.appendInteger(Self.broadcastPath.count + fields.topic.count, prefix: 7, bits: 0, to: &block)
            block.append(contentsOf: Self.broadcastPath)
            block.append(contentsOf: bytes[fields.topic])
        } else {
            HPACKWriter.appendInteger(Self.devicePath.count + 2 * fields.address.count, prefix: 7, bits: 0, to: &block)
            block.append(contentsOf: Self.devicePath)
            Hex.append(bytes[fields.address], to: &block)
        }
    }

    /// Topic, push type, priority and `via`: mostly the same as in the request before.
    private mutating func appendRepeated(
        _ fields: PackedNotification.Fields, of bytes: [UInt8], to block: inout [UInt8]
    ) {
        let priority = fields.priority?.rawValue ?? 0
        if let repeated, repeated.version == table.version, repeated.pushType == fields.pushTypeCode,
            repeated.priority == priority, repeated.topic.equals(fields.topic, of: bytes)
        {
            block.append(contentsOf: repeated.field)
            return
        }
        let version = table.version
        let start = block.count
        table.appendField(Name.topic, bytes[fields.topic], to: &block)
        appendPushType(fields, to: &block)
        appendVia(to: &block)
        // Only what is all references can be said again in the same words.
        guard table.version == version else { return }
        repeated = (Array(bytes[fields.topic]), fields.pushTypeCode, priority, Array(block[start...]), version)
    }

    private mutating func appendPushType(_ fields: PackedNotification.Fields, to block: inout [UInt8]) {
        if let pushType = fields.pushType {
            table.appendField(Name.pushType, Array(pushType.rawValue.utf8)[...], to: &block)
        }
        if let priority = fields.priority {
            table.appendField(Name.priority, Array(String(priority.rawValue).utf8)[...], to: &block)
        }
    }

    private mutating func appendVia(to block: inout [UInt8]) {
        if !via.isEmpty { table.appendField(Name.via, via[...], to: &block) }
    }

    private mutating func appendID(_ id: NotificationID, as name: Int, to block: inout [UInt8]) {
        let index = table.index(of: name)
        guard index > 0 else {
            var value: [UInt8] = []
            id.appendCanonical(to: &value)
            return table.appendValue(name, value[...], to: &block)
        }
        HPACKWriter.appendInteger(index, prefix: 4, bits: 0, to: &block)
        block.append(36)
        id.appendCanonical(to: &block)
    }

    private mutating func appendExpiration(_ expiration: Int64, to block: inout [UInt8]) {
        if lastExpiration.value != expiration { lastExpiration = (expiration, Array(String(expiration).utf8)) }
        table.appendValue(Name.expiration, lastExpiration.digits[...], to: &block)
    }
}
