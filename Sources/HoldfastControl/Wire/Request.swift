internal import Foundation
internal import Holdfast

/// What a client asks for.
enum Request {
    case status
    case insights([UID])
    case pause(LaneKey, reason: String)
    case resume(LaneKey)
    case reloadCredentials
    case submit([PushNotification])
    case withdraw([UID])
    case retry([UID])
    case discard([UID])
    case retryQuarantined([UID])
    case blacklist([BlacklistEntry])
    case unblacklist([BlacklistKey])
    case restore([RestoredEntry], note: RestoreNote?)

    /// As the wire calls them.
    private enum Name: String {
        case status, insights, pause, resume, reloadCredentials, submit, withdraw, retry, discard, blacklist,
            unblacklist, restore, retryQuarantined
        // As the two without it. An owner that knows no scopes would take an entry or a removal for all of a token's: it
        // does not know these names, and says so.
        case blacklistScoped, unblacklistScoped
    }

    /// The first line.
    struct Head: Codable {
        struct Note: Codable {
            var name: String
            var value: Data
            /// What it was before, where that is to be looked at; none where there was none.
            var before: Data?
            var isChecked: Bool?
        }

        var request: String
        var lane: WireLane?
        var reason: String?
        var note: Note?
    }
}

extension Request {
    func message() throws -> ControlMessage {
        switch self {
        case .status: try Self.message(.status)
        case .insights(let uids): try Self.message(.insights, uids.map(WireUID.init))
        case .pause(let lane, let reason): try Self.message(.pause, lane: lane, reason: reason)
        case .resume(let lane): try Self.message(.resume, lane: lane)
        case .reloadCredentials: try Self.message(.reloadCredentials)
        case .submit(let notifications): try Self.message(.submit, notifications.map(WireNotification.init))
        case .withdraw(let uids): try Self.message(.withdraw, uids.map(WireUID.init))
        case .retry(let uids): try Self.message(.retry, uids.map(WireUID.init))
        case .discard(let uids): try Self.message(.discard, uids.map(WireUID.init))
        case .retryQuarantined(let uids): try Self.message(.retryQuarantined, uids.map(WireUID.init))
        case .blacklist(let entries):
            try Self.message(
                entries.contains { $0.scope != BlacklistScope() } ? .blacklistScoped : .blacklist,
                entries.map(WireBlacklistEntry.init))
        case .unblacklist(let keys):
            try Self.message(
                keys.contains { $0.scope != nil } ? .unblacklistScoped : .unblacklist, keys.map(WireBlacklistKey.init))
        case .restore(let entries, let note):
            try Self.message(
                .restore, entries.map(WireRestored.init),
                note: note.map { note in
                    Head.Note(
                        name: note.name, value: Data(note.value), before: note.before.map { Data($0) },
                        isChecked: note.isChecked ? true : nil)
                })
        }
    }

    private static func message(
        _ name: Name, _ items: [some Encodable] = [WireUID](), lane: LaneKey? = nil, reason: String? = nil,
        note: Head.Note? = nil
    ) throws -> ControlMessage {
        let head = Head(request: name.rawValue, lane: lane.map(WireLane.init), reason: reason, note: note)
        return try ControlMessage(head: head, items: items)
    }

    /// - Throws: ``ControlError`` with code `unknownRequest`, `tooLarge` or `malformed`.
    init(_ message: ControlMessage) throws {
        let head = try message.head(as: Head.self)
        guard let name = Name(rawValue: head.request) else {
            throw ControlError(
                .unknownRequest,
                "the process that owns the journal does not know the request \(head.request.debugDescription)")
        }
        guard message.items.count <= OperatorDeskLimits.batch else {
            throw ControlError(
                .tooLarge, "\(message.items.count) items in one request: at most \(OperatorDeskLimits.batch)")
        }
        switch name {
        case .status: self = .status
        case .insights: self = .insights(try message.uids())
        case .pause: self = .pause(try head.laneKey(), reason: head.reason ?? "")
        case .resume: self = .resume(try head.laneKey())
        case .reloadCredentials: self = .reloadCredentials
        case .submit: self = .submit(try message.items(as: WireNotification.self).map { try $0.value() })
        case .withdraw: self = .withdraw(try message.uids())
        case .retry: self = .retry(try message.uids())
        case .discard: self = .discard(try message.uids())
        case .retryQuarantined: self = .retryQuarantined(try message.uids())
        case .blacklist, .blacklistScoped:
            self = .blacklist(try message.items(as: WireBlacklistEntry.self).map { try $0.value() })
        case .unblacklist, .unblacklistScoped:
            self = .unblacklist(try message.items(as: WireBlacklistKey.self).map { try $0.value() })
        case .restore:
            self = .restore(
                try message.items(as: WireRestored.self).map { try $0.value() },
                note: head.note.map { note in
                    note.isChecked == true
                        ? RestoreNote(name: note.name, value: Array(note.value), before: note.before.map { Array($0) })
                        : RestoreNote(name: note.name, value: Array(note.value))
                })
        }
    }
}

extension Request.Head {
    func laneKey() throws(ControlError) -> LaneKey {
        guard let lane else { throw .malformed("the request \(request) needs a lane") }
        return try lane.value()
    }
}

extension ControlMessage {
    init(head: some Encodable, items: [some Encodable] = [WireUID]()) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        lines = [Array(try encoder.encode(head))]
        for item in items { lines.append(Array(try encoder.encode(item))) }
    }

    /// - Throws: ``ControlError`` with code `malformed`.
    func head<Value: Decodable>(as type: Value.Type) throws(ControlError) -> Value {
        try Self.decode(type, lines[0], "the first line")
    }

    /// - Throws: ``ControlError`` with code `malformed`.
    func items<Value: Decodable>(as type: Value.Type) throws(ControlError) -> [Value] {
        var values: [Value] = []
        for (index, line) in items.enumerated() {
            values.append(try Self.decode(type, line, "item \(index + 1)"))
        }
        return values
    }

    func uids() throws(ControlError) -> [UID] { try items(as: WireUID.self).map { $0.value() } }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ line: [UInt8], _ what: String
    ) throws(ControlError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(line))
        } catch {
            // Foundation's words would quote what came.
            throw .malformed("\(what) of the message is not what the protocol says")
        }
    }
}
