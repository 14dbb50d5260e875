internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// Which entries of a journal, from where on, and how many at most. What is absent does not matter.
struct EntryQuestionForm: Codable, Sendable {
    var lanes: [String]?
    var states: [String]
    var uids: String?
    var topics: [String]?
    var tokens: [String]?
    var channels: [String]?
    var addresses: [String]?
    var producers: [String]?
    var tags: [String]?
    var ids: [String]?
    /// In milliseconds since 1970.
    var acceptedBefore: Int64?
    var acceptedAfter: Int64?
    var reasons: [String]?
    var attempts: Int?
    var after: UInt64
    var limit: Int

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case lanes, states, uids, topics, tokens, channels, addresses, producers, tags, ids, acceptedBefore,
            acceptedAfter, reasons, attempts, after, limit
    }

    /// Of a request's body, whatever they are.
    private struct Keys: Decodable {
        struct Key: CodingKey {
            let stringValue: String
            let intValue: Int? = nil
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let unknown: String?

        init(from decoder: any Decoder) throws {
            let known = Set(CodingKeys.allCases.map(\.stringValue))
            unknown = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue).first { !known.contains($0) }
        }
    }

    /// A condition that this program does not know must not be passed over: more would be chosen than was asked for, and perhaps
    /// dropped.
    ///
    /// - Throws: ``ControlError`` with code `malformed`, or `unknownRequest` for a condition of a newer program.
    static func read(_ body: [UInt8]) throws(ControlError) -> EntryQuestionForm {
        let form = try Form.read(EntryQuestionForm.self, body, "the request's body")
        guard let unknown = try Form.read(Keys.self, body, "the request's body").unknown else { return form }
        throw ControlError(
            .unknownRequest,
            "the process that owns the journal can't choose by \(unknown.prefix(100).debugDescription): its Holdfast is older "
                + "than what asks it")
    }

    init(_ filter: EntryFilter, after: UID, limit: Int) {
        lanes = Self.some(filter.lanes.map(\.description))
        states = filter.states.map(\.rawValue).sorted()
        uids = filter.uids == .all ? nil : filter.uids.description
        topics = Self.some(filter.topics.sorted())
        tokens = Self.some(filter.tokens.map(\.text))
        channels = Self.some(filter.channels.map(\.id))
        addresses = Self.some(filter.addresses.map(\.notation))
        producers = Self.some(filter.producers.sorted())
        tags = Self.some(filter.tags.map(\.text))
        ids = Self.some(filter.ids.map { "\($0)" })
        acceptedBefore = filter.acceptedBefore?.milliseconds
        acceptedAfter = filter.acceptedAfter?.milliseconds
        reasons = Self.some(filter.reasons.map(\.rawValue))
        attempts = filter.attempts > 0 ? filter.attempts : nil
        self.after = after.rawValue
        self.limit = limit
    }

    private static func some(_ texts: [String]) -> [String]? { texts.isEmpty ? nil : texts }

    /// - Throws: ``ControlError`` with code `malformed`.
    func filter() throws(ControlError) -> EntryFilter {
        var filter = EntryFilter()
        filter.lanes = try Self.values(lanes, "a lane") { LanePattern($0) }
        filter.states = Set(try Self.values(states, "a state") { JournalEntry.StateKind(rawValue: $0) })
        // No UID at all is a set, too.
        if let uids { filter.uids = uids.isEmpty ? UIDRanges([UID]()) : try Self.value(uids, "UIDs") { UIDRanges($0) } }
        filter.topics = Set(topics ?? [])
        filter.tokens = try Self.values(tokens, "a token") { TokenPattern($0) }
        filter.channels = Set(try Self.values(channels, "a channel") { try? BroadcastChannel($0) })
        filter.addresses = Set(try Self.values(addresses, "an address") { try? ServiceAddress(notation: $0) })
        filter.producers = Set(producers ?? [])
        filter.tags = (tags ?? []).map { TagPattern($0) }
        filter.ids = Set(try Self.values(ids, "an apns-id") { NotificationID($0) })
        filter.acceptedBefore = acceptedBefore.map { WallTime(milliseconds: $0) }
        filter.acceptedAfter = acceptedAfter.map { WallTime(milliseconds: $0) }
        filter.reasons = Set((reasons ?? []).map(Reason.init(rawValue:)))
        filter.attempts = attempts ?? 0
        return filter
    }

    private static func values<Value>(
        _ texts: [String]?, _ what: String, _ read: (String) -> Value?
    ) throws(ControlError) -> [Value] {
        try (texts ?? []).map { text throws(ControlError) in try value(text, what, read) }
    }

    private static func value<Value>(
        _ text: String, _ what: String, _ read: (String) -> Value?
    ) throws(ControlError) -> Value {
        guard let value = read(text) else {
            throw ControlError.malformed("\(text.prefix(200).debugDescription) is not \(what)")
        }
        return value
    }
}
