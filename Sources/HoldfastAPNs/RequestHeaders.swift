internal import Holdfast
internal import HoldfastHTTP2

/// Writes the header block of each request, for one connection.
///
/// As Apple asks (*Sending notification requests to APNs*): `:path` and `authorization` are literals that are never
/// indexed; the others go into the peer's dynamic table when they first occur, so that from then on what repeats is one
/// byte, and of what differs only the value travels. The table is only ever added to as far as it has room, so nothing is
/// evicted and no index goes stale unnoticed.
///
/// A block that is encoded must be sent: the peer's table follows from it.
struct RequestHeaders: Sendable {
    private enum Name: Int, CaseIterable, Sendable {
        case authority, topic, pushType, priority, expiration, id, collapseID, requestID, channelID

        var bytes: [UInt8] {
            switch self {
            case .authority: Array(":authority".utf8)
            case .topic: Array("apns-topic".utf8)
            case .pushType: Array("apns-push-type".utf8)
            case .priority: Array("apns-priority".utf8)
            case .expiration: Array("apns-expiration".utf8)
            case .id: Array("apns-id".utf8)
            case .collapseID: Array("apns-collapse-id".utf8)
            case .requestID: Array("apns-request-id".utf8)
            case .channelID: Array("apns-channel-id".utf8)
            }
        }
    }

    /// The greatest dynamic table used, whatever the peer allows: room for some forty topics.
    static let greatestTable = 4096

    private let authority: [UInt8]
    private let schemeIndex: Int
    /// What was added to the peer's table, oldest first.
    private var table: [(name: Name, value: [UInt8])] = []
    private var tableSize = 0
    private var tableLimit = Self.greatestTable
    /// A change of the table's size that the next block must begin with.
    private var pendingSizeUpdate: Int?
    /// Where the peer's table has each name (the index of the newest such entry), by ``Name/rawValue``; 0 for nowhere.
    private var nameIndices = [Int](repeating: 0, count: Name.allCases.count)
    /// Where it has our authority; 0 for nowhere.
    private var authorityIndex = 0

    /// The authorization field, encoded; empty for none.
    private var authorizationField: [UInt8] = []
    /// Topic, push type and priority of the last request, encoded, while the table has not changed since.
    private var repeated: (topic: [UInt8], pushType: UInt8, priority: UInt8, field: [UInt8])?

    /// Notifications accepted in the same second share their default expiration.
    private var lastExpiration: (value: Int64, digits: [UInt8]) = (0, [UInt8(ascii: "0")])

    init(authority: String, isCleartext: Bool) {
        self.authority = Array(authority.utf8)
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
    mutating func setPeerTableSize(_ size: Int) {
        let limit = min(size, Self.greatestTable)
        guard limit != tableLimit else { return }
        // Empty the table and begin anew, which is simple and happens once a connection at the most.
        table.removeAll()
        tableSize = 0
        updateIndices()
        repeated = nil
        tableLimit = limit
        pendingSizeUpdate = limit
    }

    /// Appends the header block for one notification.
    mutating func append(_ fields: PackedNotification.Fields, of bytes: [UInt8], to block: inout [UInt8]) {
        if let size = pendingSizeUpdate {
            // Down to nothing first, which evicts what the table held; then up to what is allowed.
            HPACKWriter.appendSizeUpdate(0, to: &block)
            if size > 0 { HPACKWriter.appendSizeUpdate(size, to: &block) }
            pendingSizeUpdate = nil
        }
        HPACKWriter.appendIndexed(HPACKStaticIndex.methodPost, to: &block)
        HPACKWriter.appendIndexed(schemeIndex, to: &block)
        appendPath(fields, of: bytes, to: &block)
        if authorityIndex > 0 {
            HPACKWriter.appendIndexed(authorityIndex, to: &block)
        } else {
            appendField(.authority, authority[...], to: &block)
        }
        block.append(contentsOf: authorizationField)
        if fields.isBroadcast {
            appendPushType(fields, to: &block)
            appendValue(.channelID, bytes[fields.address], to: &block)
            appendID(fields.id, as: .requestID, to: &block)
        } else {
            appendRepeated(fields, of: bytes, to: &block)
            appendID(fields.id, as: .id, to: &block)
        }
        if let expiration = fields.expirationToSend { appendExpiration(expiration, to: &block) }
        if !fields.collapseID.isEmpty { appendValue(.collapseID, bytes[fields.collapseID], to: &block) }
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

    /// Topic, push type and priority: mostly the same as in the request before.
    private mutating func appendRepeated(
        _ fields: PackedNotification.Fields, of bytes: [UInt8], to block: inout [UInt8]
    ) {
        let priority = fields.priority?.rawValue ?? 0
        if let repeated, repeated.pushType == fields.pushTypeCode, repeated.priority == priority,
            repeated.topic.equals(fields.topic, of: bytes)
        {
            block.append(contentsOf: repeated.field)
            return
        }
        let tableBefore = table.count
        let start = block.count
        appendField(.topic, bytes[fields.topic], to: &block)
        appendPushType(fields, to: &block)
        // Only what is all references can be said again in the same words.
        guard table.count == tableBefore else { return }
        repeated = (Array(bytes[fields.topic]), fields.pushTypeCode, priority, Array(block[start...]))
    }

    private mutating func appendPushType(_ fields: PackedNotification.Fields, to block: inout [UInt8]) {
        if let pushType = fields.pushType { appendField(.pushType, Array(pushType.rawValue.utf8)[...], to: &block) }
        if let priority = fields.priority {
            appendField(.priority, Array(String(priority.rawValue).utf8)[...], to: &block)
        }
    }

    private mutating func appendID(_ id: NotificationID, as name: Name, to block: inout [UInt8]) {
        let index = nameIndices[name.rawValue]
        guard index > 0 else {
            var value: [UInt8] = []
            id.appendCanonical(to: &value)
            return appendValue(name, value[...], to: &block)
        }
        HPACKWriter.appendInteger(index, prefix: 4, bits: 0, to: &block)
        block.append(36)
        id.appendCanonical(to: &block)
    }

    private mutating func appendExpiration(_ expiration: Int64, to block: inout [UInt8]) {
        if lastExpiration.value != expiration { lastExpiration = (expiration, Array(String(expiration).utf8)) }
        let index = nameIndices[Name.expiration.rawValue]
        guard index > 0 else { return appendValue(.expiration, lastExpiration.digits[...], to: &block) }
        HPACKWriter.appendInteger(index, prefix: 4, bits: 0, to: &block)
        HPACKWriter.appendInteger(lastExpiration.digits.count, prefix: 7, bits: 0, to: &block)
        block.append(contentsOf: lastExpiration.digits)
    }

    /// A field whose name and value are likely to come again: a reference, or an entry from now on.
    private mutating func appendField(_ name: Name, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        for position in table.indices where table[position].name == name && table[position].value.elementsEqual(value) {
            return HPACKWriter.appendIndexed(tableIndex(position), to: &block)
        }
        appendNew(name, value, to: &block)
    }

    /// A field whose value differs each time: a reference to the name, once there is one.
    private mutating func appendValue(_ name: Name, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        let index = nameIndices[name.rawValue]
        guard index > 0 else { return appendNew(name, value, to: &block) }
        HPACKWriter.appendLiteral(nameIndex: index, value: value, indexing: .without, to: &block)
    }

    private mutating func appendNew(_ name: Name, _ value: ArraySlice<UInt8>, to block: inout [UInt8]) {
        let size = HPACKWriter.entrySize(nameCount: name.bytes.count, valueCount: value.count)
        let hasRoom = tableSize + size <= tableLimit
        let indexing: HPACKWriter.Indexing = hasRoom ? .incremental : .without
        if name == .authority {
            HPACKWriter.appendLiteral(
                nameIndex: HPACKStaticIndex.authority, value: value, indexing: indexing, to: &block)
        } else if nameIndices[name.rawValue] > 0 {
            HPACKWriter.appendLiteral(
                nameIndex: nameIndices[name.rawValue], value: value, indexing: indexing, to: &block)
        } else {
            HPACKWriter.appendLiteral(name: name.bytes, value: value, indexing: indexing, to: &block)
        }
        guard hasRoom else { return }
        table.append((name, Array(value)))
        tableSize += size
        repeated = nil
        updateIndices()
    }

    /// Every entry that is added moves the others on by one.
    private mutating func updateIndices() {
        for index in nameIndices.indices { nameIndices[index] = 0 }
        for position in table.indices { nameIndices[table[position].name.rawValue] = tableIndex(position) }
        authorityIndex = nameIndices[Name.authority.rawValue]
    }

    /// HPACK's index: the newest entry comes first.
    private func tableIndex(_ position: Int) -> Int { HPACKWriter.firstDynamicIndex + table.count - 1 - position }
}
