internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

/// The names and values of a request to `/api`: behind the `?` of one that reads, in the JSON object of one that changes.
struct PageItems: Sendable {
    private let items: [String: String]

    init(query: String, _ known: [String]) throws(ControlError) {
        var items: [String: String] = [:]
        for (name, value) in try QueryItems(query, known: known).items where !value.isEmpty { items[name] = value }
        self.items = items
    }

    init(body: [UInt8], _ known: [String]) throws(ControlError) {
        try Self.refuseRepeats(in: body)
        let values = try Form.read([String: Value].self, body, "the request's body")
        if let unknown = values.keys.sorted().first(where: { !known.contains($0) }) {
            throw .malformed(
                "\(String(unknown.prefix(100)).debugDescription) can't be given: "
                    + "\(known.isEmpty ? "nothing" : known.joined(separator: ", ")) can")
        }
        if let wrong = values.sorted(by: { $0.key < $1.key }).first(where: { $0.value.text == nil })?.key {
            throw .malformed("\(wrong) takes a text, a whole number, true or false: no list, object or null")
        }
        items = values.compactMapValues(\.text)
    }

    /// Nobody knows which of two was meant, and a decoder takes either.
    private static func refuseRepeats(in body: [UInt8]) throws(ControlError) {
        guard let twice = repeated(in: body) else { return }
        throw .malformed(
            "\(String(twice.prefix(100)).debugDescription) comes twice in the request's body: give it once")
    }

    /// The first name that comes twice; nil for none, and for a body that is no object, which is refused when it is read.
    private static func repeated(in body: [UInt8]) -> String? {
        var names: Set<String> = []
        do throws(JSONFault) {
            var members = try JSONMembers(body.span, in: 0..<body.count)
            while let name = try members.nextName(body.span) {
                let text = try JSONScanner.string(body.span, in: name)
                guard names.insert(text).inserted else { return text }
            }
            return nil
        } catch {
            return nil
        }
    }

    subscript(_ name: String) -> String? { items[name] }

    var isEmpty: Bool { items.isEmpty }

    /// A value that has to be there.
    func need(_ name: String) throws(ControlError) -> String {
        guard let value = items[name], !value.isEmpty else { throw .malformed("\(name) is missing: give it") }
        return value
    }

    /// A value in the form of the tool's flags.
    func value<Value>(
        _ name: String, _ read: (String) throws(OutcomeArgument.Fault) -> Value
    ) throws(ControlError) -> Value? {
        guard let text = items[name] else { return nil }
        do throws(OutcomeArgument.Fault) { return try read(text) } catch {
            throw .malformed("\(name): \(error.message)")
        }
    }

    func limit(_ most: Int = 500, orElse standard: Int = 100) throws(ControlError) -> Int {
        try value("limit") { (text) throws(OutcomeArgument.Fault) in try OutcomeArgument.count(text, in: 1...most) }
            ?? standard
    }

    /// A text, a number or a truth.
    private struct Value: Decodable {
        /// Nil for a value of another type.
        let text: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                text = flag ? "true" : "false"
            } else if let number = try? container.decode(Int64.self) {
                text = "\(number)"
            } else {
                text = try? container.decode(String.self)
            }
        }
    }
}

// MARK: Which entries

extension PageItems {
    static let entryNames = [
        "lane", "topic", "token", "address", "producer", "tag", "apns-id", "reason", "uids", "older-than", "newer-than",
    ]

    /// Whether nothing but a place and a number was given, so that all entries are meant.
    var choosesAll: Bool { Self.entryNames.allSatisfy { items[$0] == nil } }

    /// The flags of `journal list`, by the same names.
    ///
    /// - Parameter states: of the entries that are meant.
    func filter(
        _ states: Set<JournalEntry.StateKind>, now: WallTime = EngineClock.system.wall()
    ) throws(ControlError) -> EntryFilter {
        var filter = EntryFilter()
        filter.states = states
        if let lane = items["lane"] { filter.lanes = LanePattern(lane).map { [$0] } ?? [] }
        if let topic = items["topic"] { filter.topics = [topic] }
        if let token = items["token"] {
            guard let pattern = TokenPattern(token) else {
                throw .malformed("token: it takes hex digits: all of a token, the first ones, or 00fc…9a1b")
            }
            filter.tokens = [pattern]
        }
        if case .service(let address)? = try value("address", OutcomeArgument.address) { filter.addresses = [address] }
        if let producer = items["producer"] { filter.producers = [producer] }
        if let tag = items["tag"] { filter.tags = [TagPattern(tag)] }
        if let id = try value("apns-id", OutcomeArgument.id) { filter.ids = [id] }
        if let reason = items["reason"] { filter.reasons = [Reason(rawValue: reason)] }
        if let uids = items["uids"] {
            guard let ranges = UIDRanges(uids) else {
                throw .malformed("uids: it takes numbers and ranges, such as 7, 10-20,30 or 500-")
            }
            filter.uids = ranges
        }
        filter.acceptedBefore = try time("older-than", now)
        filter.acceptedAfter = try time("newer-than", now)
        return filter
    }

    private func time(_ name: String, _ now: WallTime) throws(ControlError) -> WallTime? {
        try value(name) { (text) throws(OutcomeArgument.Fault) in try OutcomeArgument.time(text, now: now) }
    }
}

/// The words of the tool's `--state`.
enum EntryStates {
    static let unconfirmed: Set<JournalEntry.StateKind> = [.neverSent, .possiblySent, .deferred, .scheduled]

    static func read(_ word: String?) throws(ControlError) -> Set<JournalEntry.StateKind> {
        switch word {
        case nil: return JournalEntry.StateKind.usual
        case "unconfirmed": return unconfirmed
        case let word?:
            guard let state = JournalEntry.StateKind.allCases.first(where: { EntryRow.name($0) == word }) else {
                throw .malformed("state: there is no state \(word.prefix(100).debugDescription)")
            }
            return [state]
        }
    }
}
