package import Holdfast

/// An entry of the blacklist, without the UID of the notification by which it was learnt, which means something in its own
/// journal only.
package struct BlacklistForm: Codable, Hashable, Sendable {
    /// A token, or another service's address by its ``ServiceAddress/notation``.
    package var token: String
    package var reason: String
    package var since: ExactTime
    package var learntAt: ExactTime
    package var route: String
    /// Absent for every topic, or service.
    package var topic: String?
    package var endpoint: String?
    /// The status of the answer by which it was learnt, where there was one.
    package var status: Int?
    /// Absent where the entry holds until a newer registration.
    package var expiresAt: ExactTime?

    /// - Parameter isWhole: whether to give the token whole, or shortened for display.
    package init(_ entry: BlacklistEntry, isWhole: Bool = true) {
        token = isWhole ? entry.recipient.notation : "\(entry.recipient)"
        reason = entry.reason.rawValue
        since = ExactTime(entry.since)
        learntAt = ExactTime(entry.learntAt)
        route = entry.route
        topic = entry.topic
        endpoint = entry.endpoint
        status = entry.status
        expiresAt = entry.expiresAt.map { ExactTime($0) }
    }

    private enum AddressKey: String, CodingKey { case address }

    /// An address of another service may have its usual key, in place of `token`.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let address = try decoder.container(keyedBy: AddressKey.self).decodeIfPresent(String.self, forKey: .address)
        let named = try values.decodeIfPresent(String.self, forKey: .token)
        guard address == nil || named == nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .token, in: values, debugDescription: "an entry has a token or an address, and not both")
        }
        token = try address ?? named ?? values.decode(String.self, forKey: .token)
        reason = try values.decode(String.self, forKey: .reason)
        since = try values.decode(ExactTime.self, forKey: .since)
        learntAt = try values.decode(ExactTime.self, forKey: .learntAt)
        route = try values.decode(String.self, forKey: .route)
        topic = try values.decodeIfPresent(String.self, forKey: .topic)
        endpoint = try values.decodeIfPresent(String.self, forKey: .endpoint)
        status = try values.decodeIfPresent(Int.self, forKey: .status)
        expiresAt = try values.decodeIfPresent(ExactTime.self, forKey: .expiresAt)
    }

    /// - Throws: ``ControlError`` with code `malformed`.
    package func value() throws(ControlError) -> BlacklistEntry {
        BlacklistEntry(
            recipient: try Recipient.read(token), reason: Reason(rawValue: reason), since: since.value,
            learntAt: learntAt.value, route: route, topic: topic, endpoint: endpoint, status: status,
            expiresAt: expiresAt?.value)
    }
}

extension Recipient {
    /// - Throws: ``ControlError`` with code `malformed`.
    package static func read(_ notation: String) throws(ControlError) -> Recipient {
        do throws(Refusal) {
            return try Recipient(notation: notation)
        } catch {
            throw .malformed(error.detail)
        }
    }
}

struct BlacklistEntriesForm: Codable {
    var entries: [BlacklistForm]

    init(_ entries: [BlacklistEntry]) { self.entries = entries.map { BlacklistForm($0) } }

    func value() throws(ControlError) -> [BlacklistEntry] {
        try OperatorDeskLimits.check(entries.count)
        var values: [BlacklistEntry] = []
        for entry in entries { values.append(try entry.value()) }
        return values
    }
}

/// Entries that are to be taken off.
struct BlacklistKeysForm: Codable {
    struct Key: Codable {
        var token: String
        /// Absent for all entries of the token.
        var scope: Scope?
    }

    /// Each absent for the entry of every one.
    struct Scope: Codable {
        var topic: String?
        var endpoint: String?
    }

    var keys: [Key]

    init(_ keys: [BlacklistKey]) {
        self.keys = keys.map { key in
            Key(
                token: key.recipient.notation,
                scope: key.scope.map { scope in Scope(topic: scope.topic, endpoint: scope.endpoint) })
        }
    }

    func value() throws(ControlError) -> [BlacklistKey] {
        try OperatorDeskLimits.check(keys.count)
        var values: [BlacklistKey] = []
        for key in keys {
            let scope = key.scope.map { BlacklistScope(topic: $0.topic, endpoint: $0.endpoint) }
            values.append(BlacklistKey(try Recipient.read(key.token), scope))
        }
        return values
    }
}

/// Entries that were put on the blacklist.
package struct BlacklistAdditionForm: Codable, Hashable, Sendable {
    package var added: Int
    /// Lines of the input that were no tokens; the socket takes none.
    package var malformed: Int?

    package init(added: Int, malformed: Int? = nil) { (self.added, self.malformed) = (added, malformed) }
}

/// Entries that were taken off the blacklist.
package struct BlacklistRemovalForm: Codable, Hashable, Sendable {
    /// Tokens that were named, or entries that were chosen.
    package var matched: Int
    package var removed: Int
    /// Lines of the input that were no tokens; the socket takes none.
    package var malformed: Int?

    package init(matched: Int, removed: Int, malformed: Int? = nil) {
        (self.matched, self.removed, self.malformed) = (matched, removed, malformed)
    }
}
