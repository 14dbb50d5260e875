internal import Holdfast
internal import HoldfastControl
internal import HoldfastFCM
internal import HoldfastJournal
internal import HoldfastService

/// Reads a line of `journal export`.
struct ImportLine {
    let entry: RestoredEntry

    /// - Parameter range: the line in `bytes`, without its newline.
    init(_ bytes: [UInt8], in range: Range<Int>) throws(LineFault) {
        do {
            entry = try Members(bytes, in: range, named: ExportedEntry.names).entry()
        } catch let fault as JSONFault {
            // People count from the line's first byte, and from 1.
            throw LineFault("\(fault.reason.rawValue), at byte \(fault.offset - range.lowerBound + 1)")
        } catch let fault as LineFault {
            throw fault
        } catch {
            throw LineFault("\(error)")
        }
    }
}

/// The members of one object, by their names: each at most once, and none that is not known.
private struct Members {
    private let bytes: [UInt8]
    private var values: [String: JSONValue] = [:]

    init(_ bytes: [UInt8], in range: Range<Int>, named names: [String]) throws {
        self.bytes = bytes
        var members = try JSONMembers(bytes.span, in: range)
        while let member = try members.next(bytes.span) {
            guard
                let known = names.first(where: {
                    JSONScanner.isString(bytes.span, in: member.name, equalTo: $0)
                })
            else {
                let name = try JSONScanner.string(bytes.span, in: member.name)
                throw LineFault("unknown key \"\(name.printable(maximumLength: 64))\"")
            }
            guard values[known] == nil else { throw LineFault("\"\(known)\" comes twice") }
            if member.value.kind != .null { values[known] = member.value }
        }
    }

    func value(_ key: some CodingKey) -> JSONValue? { values[key.stringValue] }

    func raw(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    func nested<Inner: CodingKey & CaseIterable>(_ key: some CodingKey, _: Inner.Type) throws -> Members? {
        try values[key.stringValue].map { value in
            try Members(bytes, in: value.range, named: Inner.allCases.map(\.stringValue))
        }
    }

    func string(_ key: some CodingKey) throws -> String? {
        guard let value = values[key.stringValue] else { return nil }
        guard value.kind == .string else { throw LineFault("\"\(key.stringValue)\" must be a string") }
        return try JSONScanner.string(bytes.span, in: value.range)
    }

    func integer<Number: FixedWidthInteger>(_ key: some CodingKey, _: Number.Type) throws -> Number? {
        guard let value = values[key.stringValue] else { return nil }
        guard value.kind == .number, let number = Number(String(decoding: bytes[value.range], as: UTF8.self)) else {
            throw LineFault("\"\(key.stringValue)\" must be a whole number of \(Number.min) to \(Number.max)")
        }
        return number
    }

    func boolean(_ key: some CodingKey) throws -> Bool? {
        guard let value = values[key.stringValue] else { return nil }
        guard value.kind == .boolean else { throw LineFault("\"\(key.stringValue)\" must be true or false") }
        return bytes[value.range.lowerBound] == UInt8(ascii: "t")
    }

    func time(_ key: some CodingKey) throws -> WallTime? {
        try integer(key, Int64.self).map { WallTime(milliseconds: $0) }
    }

    func hex(_ key: some CodingKey) throws -> [UInt8]? {
        guard let digits = try string(key) else { return nil }
        guard let bytes = Hex.bytes(digits) else {
            throw LineFault("\"\(key.stringValue)\" must be hex digits, two for a byte")
        }
        return bytes
    }

    /// A member that every line has.
    func needed<Value>(_ key: some CodingKey, _ value: Value?) throws -> Value {
        guard let value else { throw LineFault("has no \"\(key.stringValue)\"") }
        return value
    }
}

extension Members {
    private typealias Key = ExportedEntry.Key
    private typealias Header = ExportedEntry.HeaderKey
    private typealias To = ExportedEntry.RecipientKey
    private typealias Google = ExportedEntry.MessageKey
    private typealias Rejection = ExportedEntry.RejectionKey

    func entry() throws -> RestoredEntry {
        let lane: LaneKey
        do {
            lane = try LaneKey.read(try needed(Key.lane, string(Key.lane)))
        } catch is ControlError {
            throw LineFault("\"lane\" must be ROUTE/URGENCY/GUARANTEE, such as default/immediate/at-least-once")
        }
        let producer = try needed(Key.producer, string(Key.producer))
        guard (1...64).contains(producer.utf8.count) else { throw LineFault("\"producer\" must have 1 to 64 bytes") }
        let history = EntryHistory(
            place: try place(), attempts: try integer(Key.attempts, UInt16.self) ?? 0,
            isPossiblySent: try boolean(Key.possiblySent) ?? false,
            lastReason: try string(Key.lastReason).map(Reason.init(rawValue:)))
        let entry = RestoredEntry(
            lane: lane, producer: producer, notification: try notification(),
            acceptedAt: try needed(Key.acceptedAt, time(Key.acceptedAt)), history: history,
            retryOf: try integer(Key.retryOf, UInt64.self).flatMap { $0 > 0 ? UID($0) : nil })
        _ = try integer(Key.uid, UInt64.self)
        if let contradiction = entry.contradiction { throw LineFault("contradicts itself: \(contradiction)") }
        return entry
    }

    private func place() throws -> EntryHistory.Place {
        guard let state = ExportedEntry.State(rawValue: try needed(Key.state, string(Key.state))) else {
            throw LineFault("\"state\" must be waiting, deferred, scheduled or rejected")
        }
        let due = try time(Key.dueAt)
        let rejection = try nested(Key.rejection, ExportedEntry.RejectionKey.self)
        guard (due != nil) == (state == .deferred || state == .scheduled) else {
            throw LineFault("\"due-at\" goes with a deferred entry, or a scheduled one")
        }
        guard (rejection != nil) == (state == .rejected) else {
            throw LineFault("\"rejection\" goes with a rejected entry")
        }
        if let due { return .deferred(until: state == .scheduled ? ScheduledPlace.due(for: due) : due) }
        guard let rejection else { return .waiting }
        return .rejected(
            RejectionCause(
                reason: Reason(rawValue: try rejection.needed(Rejection.reason, rejection.string(Rejection.reason))),
                status: try rejection.integer(Rejection.status, UInt16.self).map(Int.init),
                timestamp: try rejection.time(Rejection.timestamp),
                rejectedAt: try rejection.needed(Rejection.rejectedAt, rejection.time(Rejection.rejectedAt))))
    }

    /// The message of Google's form; nil for a line in the form of an export.
    private func message() throws -> FCMMessage? {
        guard let value = value(Google.message) else {
            guard value(Google.project) == nil else { throw LineFault("\"project\" goes with \"message\"") }
            return nil
        }
        let others: [any CodingKey] = [To.token, To.channel, To.address, Header.topic, Key.payload, Key.payloadBytes]
        if let other = others.first(where: { self.value($0) != nil }) {
            throw LineFault("has both \"message\" and \"\(other.stringValue)\"")
        }
        guard value.kind == .object else { throw LineFault("\"message\" must be an object") }
        do throws(Refusal) { return try FCMMessage(raw(value.range)) } catch { throw LineFault(error) }
    }

    private func notification() throws -> PushNotification {
        let message = try message()
        guard let id = NotificationID(try needed(Header.id, string(Header.id))) else {
            throw LineFault("\"apns-id\" must be a UUID")
        }
        let guarantee = try needed(Key.guarantee, string(Key.guarantee))
        guard let guarantee = Guarantee.allCases.first(where: { $0.name == guarantee }) else {
            throw LineFault("\"guarantee\" must be at-least-once or at-most-once")
        }
        var notification = PushNotification(
            recipient: try message.map { .service($0.target) } ?? recipient(),
            topic: try message == nil
                ? needed(Header.topic, string(Header.topic)) : needed(Google.project, string(Google.project)),
            payload: try message?.content ?? payload(),
            payloadKind: try integer(Key.payloadKind, UInt8.self).map(PayloadKind.init(rawValue:)) ?? .json,
            pushType: try pushType(),
            priority: try priority() ?? message?.priority, expiration: try expiration(of: message),
            collapseID: try string(Header.collapseID), id: id,
            tokenRegisteredAt: try time(Header.tokenRegisteredAt), guarantee: guarantee)
        notification.tag = try bytes(Key.tag, or: Key.tagBytes)
        notification.context = try bytes(Key.context, or: Key.contextBytes)
        notification.deliverAfter = try time(Header.deliverAfter)
        notification.deliveryHours = try deliveryHours()
        notification.newestWins = try boolean(Header.newestWins) ?? false
        notification.trace = try string(Key.traceparent).flatMap {
            TraceContext(traceparent: $0, tracestate: try string(Key.tracestate))
        }
        try checkLengths(notification)
        return notification
    }

    private func recipient() throws -> Recipient {
        do {
            switch (try string(To.channel), try string(To.address)) {
            case (nil, nil): return .device(try DeviceToken(try needed(To.token, string(To.token))))
            case (let channel?, nil) where value(To.token) == nil: return .channel(try BroadcastChannel(channel))
            case (nil, let address?) where value(To.token) == nil:
                return .service(try ServiceAddress(notation: address))
            default: throw LineFault("has more than one of \"token\", \"channel\" and \"address\"")
            }
        } catch let refusal as Refusal {
            throw LineFault(refusal)
        }
    }

    private func expiration(of message: FCMMessage?) throws -> Expiration {
        if let message, value(Header.tryUntil) == nil, value(Header.expiration) == nil {
            let acceptedAt = try needed(Key.acceptedAt, time(Key.acceptedAt))
            guard let expiration = message.expiration(at: acceptedAt) else {
                throw LineFault("has no \"apns-expiration\", and the message no \"android\" with a \"ttl\"")
            }
            return expiration
        }
        guard let deadline = try integer(Header.tryUntil, Int64.self) else {
            return Expiration(unixSeconds: try needed(Header.expiration, integer(Header.expiration, Int64.self)))
        }
        let seconds = try integer(Header.expiration, Int64.self)
        guard seconds ?? 0 == 0, deadline > 0 else {
            throw LineFault("\"try-until\" goes with \"apns-expiration\": 0, or none")
        }
        return seconds == nil ? .unstated(until: deadline) : .unstored(until: deadline)
    }

    private func payload() throws -> [UInt8] {
        guard (value(Key.payload) != nil) != (value(Key.payloadBytes) != nil) else {
            throw LineFault("must have one of \"payload\" and \"payload-hex\"")
        }
        if let bytes = try hex(Key.payloadBytes) { return bytes }
        guard let value = value(Key.payload), value.kind == .object else {
            throw LineFault("\"payload\" must be an object")
        }
        return raw(value.range)
    }

    private func bytes(_ text: Key, or digits: Key) throws -> [UInt8] {
        guard value(text) == nil || value(digits) == nil else {
            throw LineFault("has both \"\(text.stringValue)\" and \"\(digits.stringValue)\"")
        }
        return try hex(digits) ?? string(text).map { Array($0.utf8) } ?? []
    }

    private func deliveryHours() throws -> DeliveryHours? {
        guard let text = try string(Header.deliverWithin) else { return nil }
        do throws(Refusal) {
            return try DeliveryHours(text)
        } catch {
            throw LineFault("\"deliver-within\": \(error.detail)")
        }
    }

    private func pushType() throws -> PushType? {
        guard let type = try string(Header.pushType).map(PushType.init(rawValue:)) else { return nil }
        guard PushType.known.contains(type) else { throw LineFault("\"apns-push-type\" is not one that is known") }
        return type
    }

    private func priority() throws -> Priority? {
        guard let number = try integer(Header.priority, UInt8.self) else { return nil }
        guard let priority = Priority(rawValue: number) else { throw LineFault("\"apns-priority\" must be 10, 5 or 1") }
        return priority
    }

    /// Checks that a record has room for it. (The service's limits were checked when it was accepted.)
    private func checkLengths(_ notification: PushNotification) throws {
        guard !notification.topic.isEmpty else { throw LineFault("\"apns-topic\" is empty") }
        guard (notification.collapseID ?? "").utf8.count <= 64 else {
            throw LineFault("\"apns-collapse-id\" is longer than 64 bytes")
        }
        guard notification.tag.count <= 256 else { throw LineFault("the tag is longer than 256 bytes") }
        guard notification.context.count <= PackedNotification.maximumContextByteCount else {
            throw LineFault("the context is longer than \(PackedNotification.maximumContextByteCount) bytes")
        }
        let count =
            notification.payload.count + notification.topic.utf8.count + notification.recipient.addressByteCount
        guard count <= PackedNotification.maximumByteCount - 1024 - PackedNotification.maximumContextByteCount else {
            throw LineFault("recipient, topic and payload have \(Format.bytes(count)), more than a record holds")
        }
    }
}
