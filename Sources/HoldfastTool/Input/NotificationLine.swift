internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastFCM
internal import HoldfastService

/// The values of lines that do not give them.
struct LineDefaults: Equatable, Sendable {
    /// The `apns-topic` of lines for Apple's services.
    var topic: String?
    /// The `project` of lines for Firebase Cloud Messaging.
    var project: String?
    /// `nil` for the engine's.
    var environment: PushEnvironment?
}

/// One line of input: notifications that differ in their token only. See Docs/Reference/Tool.md for the format.
struct NotificationLine {
    /// One for each token of the line; never empty.
    var notifications: [PushNotification]
    /// The name to submit under, if the line has one.
    var producer: String?
}

extension NotificationLine {
    /// The most tokens in one line.
    static let maximumTokenCount = 4000

    /// - Parameters:
    ///   - range: the line in `bytes`, without its newline.
    ///   - now: the time from which the time to live of a message of Google's counts.
    init(
        _ bytes: [UInt8], in range: Range<Int>, defaults: LineDefaults = LineDefaults(),
        now: @autoclosure () -> WallTime = EngineClock.system.wall()
    ) throws(LineFault) {
        var fields = LineFields()
        do {
            var members = try JSONMembers(bytes.span, in: range)
            while let member = try members.next(bytes.span) {
                try fields.take(member, bytes)
            }
        } catch let fault as JSONFault {
            // People count from the line's first byte, and from 1.
            throw LineFault("\(fault.reason.rawValue), at byte \(fault.offset - range.lowerBound + 1)")
        } catch let fault as LineFault {
            throw fault
        } catch {
            throw LineFault("\(error)")
        }
        if fields.isGoogles {
            self = try fields.line(ofMessage: bytes, defaults, now())
        } else {
            self = try fields.line(bytes, defaults)
        }
    }
}

/// The members of a line as far as they were read.
private struct LineFields {
    private var seen: UInt32 = 0
    /// The keys seen whose value is not `null`.
    private var given: UInt32 = 0
    private var recipients: [Recipient] = []
    private var topic: String?
    private var pushType: PushType?
    private var priority: Priority?
    private var expiration: Expiration?
    private var tryUntil: Int64?
    private var collapseID: String?
    private var id: NotificationID?
    private var payload: Range<Int>?
    private var project: String?
    private var message: Range<Int>?
    private var tag: [UInt8] = []
    private var producer: String?
    private var registeredAt: WallTime?
    private var guarantee = Guarantee.atLeastOnce
    private var environment: PushEnvironment?
    private var deliverAfter: WallTime?
    private var deliveryHours: DeliveryHours?
    private var context: [UInt8] = []
    private var newestWins = false
    private var traceparent: String?
    private var tracestate: String?

    mutating func take(_ member: JSONMember, _ bytes: [UInt8]) throws {
        let key = try key(member.name, bytes)
        guard seen & key.bit == 0 else { throw LineFault("\"\(key.rawValue)\" comes twice") }
        seen |= key.bit
        let value = member.value
        // Many programs write null for "none", so it counts as absent.
        if value.kind == .null { return }
        given |= key.bit
        switch key {
        case .token: recipients.append(.device(try token(value, bytes, "token")))
        case .tokens: try takeTokens(value, bytes)
        case .channel: try takeChannel(value, bytes)
        case .topic: topic = try string(value, bytes, key)
        case .pushType: pushType = PushType(rawValue: try string(value, bytes, key))
        case .priority: try takePriority(value, bytes)
        case .expiration: try takeExpiration(value, bytes)
        case .tryUntil: try takeTryUntil(value, bytes)
        case .collapseID: collapseID = try string(value, bytes, key)
        case .id: try takeID(value, bytes)
        case .payload:
            guard value.kind == .object else {
                throw LineFault(Refusal(.payloadNotJSON, "\"payload\" must be an object"))
            }
            payload = value.range
        case .project: project = try string(value, bytes, key)
        case .message:
            guard value.kind == .object else { throw LineFault("\"message\" must be an object") }
            message = value.range
        case .tag:
            guard value.kind == .string else { throw LineFault("\"tag\" must be a string") }
            tag = try JSONScanner.utf8(bytes.span, in: value.range)
            if tag.isEmpty { throw LineFault("\"tag\" is empty: leave it out for none") }
        case .producer: producer = try string(value, bytes, key)
        case .registeredAt: registeredAt = try time(value, bytes, key)
        case .guarantee: try takeGuarantee(value, bytes)
        case .environment: try takeEnvironment(value, bytes)
        case .deliverAfter: deliverAfter = try time(value, bytes, key)
        case .deliverWithin: try takeHours(value, bytes)
        case .context: context = try takeContext(value, bytes)
        case .newestWins:
            guard value.kind == .boolean else { throw LineFault("\"newest-wins\" must be true or false") }
            newestWins = bytes[value.range.lowerBound] == UInt8(ascii: "t")
        // What is wrong with a trace is no fault of the notification.
        case .traceparent: traceparent = value.kind == .string ? try string(value, bytes, key) : nil
        case .tracestate: tracestate = value.kind == .string ? try string(value, bytes, key) : nil
        }
    }

    private mutating func takeHours(_ value: JSONValue, _ bytes: [UInt8]) throws {
        do {
            deliveryHours = try DeliveryHours(try string(value, bytes, .deliverWithin))
        } catch let refusal as Refusal {
            throw LineFault(refusal)
        }
    }

    private func takeContext(_ value: JSONValue, _ bytes: [UInt8]) throws -> [UInt8] {
        guard value.kind == .string else { throw LineFault("\"context\" must be a string") }
        return try JSONScanner.utf8(bytes.span, in: value.range)
    }

    private func time(_ value: JSONValue, _ bytes: [UInt8], _ key: LineKey) throws -> WallTime {
        if value.kind == .string, let time = Timestamp.parse(try JSONScanner.string(bytes.span, in: value.range)) {
            return time
        }
        if value.kind == .number, let seconds = try? JSONScanner.integer(bytes.span, in: value.range), seconds >= 0 {
            return WallTime(seconds: seconds)
        }
        throw LineFault("\"\(key.rawValue)\" must be whole Unix seconds or a time as 2026-11-21T01:24:38Z")
    }

    /// Whether it is a line for Firebase Cloud Messaging.
    var isGoogles: Bool { given & (LineKey.message.bit | LineKey.project.bit) != 0 }

    func line(
        ofMessage bytes: [UInt8], _ defaults: LineDefaults, _ now: WallTime
    ) throws(LineFault) -> NotificationLine {
        if let key = LineKey.apples.first(where: { given & $0.bit != 0 }) {
            throw LineFault(
                "\"\(key.rawValue)\" is for Apple's services, and \"message\" for Google's: a line is for one")
        }
        guard let message else { throw LineFault(Refusal(.fcmInvalidArgument, "has no \"message\"")) }
        guard let project = project ?? defaults.project else {
            throw LineFault(Refusal(.missingTopic, "has no \"project\", and --project was not given"))
        }
        do throws(Refusal) {
            var notification = PushNotification(try FCMMessage(bytes, in: message), project: project, at: now)
            if let tryUntil { notification.expiration = .unstated(until: tryUntil) }
            notification.id = id
            notification.tokenRegisteredAt = registeredAt
            notification.guarantee = guarantee
            (notification.tag, notification.context) = (tag, context)
            (notification.deliverAfter, notification.deliveryHours) = (deliverAfter, deliveryHours)
            notification.trace = trace
            return NotificationLine(notifications: [notification], producer: producer)
        } catch {
            throw LineFault(error)
        }
    }

    private var trace: TraceContext? {
        traceparent.flatMap { TraceContext(traceparent: $0, tracestate: tracestate) }
    }

    func line(_ bytes: [UInt8], _ defaults: LineDefaults) throws(LineFault) -> NotificationLine {
        let ways = [LineKey.token, .tokens, .channel].filter { given & $0.bit != 0 }
        guard ways.count < 2 else {
            throw LineFault("has both \"\(ways[0].rawValue)\" and \"\(ways[1].rawValue)\"")
        }
        guard !recipients.isEmpty else { throw LineFault(Refusal(.missingDeviceToken, "has no \"token\"")) }
        guard let payload else { throw LineFault(Refusal(.payloadEmpty, "has no \"payload\"")) }
        guard let topic = topic ?? defaults.topic else {
            throw LineFault(Refusal(.missingTopic, "has no \"apns-topic\", and --topic was not given"))
        }
        guard id == nil || recipients.count == 1 else {
            throw LineFault(Refusal(.badMessageID, "one \"apns-id\" cannot name the notifications of several tokens"))
        }
        let body = Array(bytes[payload])
        var expiration = try deadline()
        var type = pushType
        if ways == [.channel] {
            expiration = expiration?.ofBroadcast
            type = type ?? .liveactivity
        }
        let trace = trace
        let notifications = recipients.map { recipient in
            var notification = PushNotification(
                recipient: recipient, topic: topic, payload: body, pushType: type, priority: priority,
                expiration: expiration,
                collapseID: collapseID, id: id, tokenRegisteredAt: registeredAt, guarantee: guarantee, tag: tag,
                context: context, deliverAfter: deliverAfter, deliveryHours: deliveryHours, newestWins: newestWins)
            notification.environment = environment ?? defaults.environment
            notification.trace = trace
            return notification
        }
        return NotificationLine(notifications: notifications, producer: producer)
    }

    private func key(_ name: Range<Int>, _ bytes: [UInt8]) throws -> LineKey {
        // Nearly every program writes names without escapes.
        let plain = name.lowerBound + 1..<name.upperBound - 1
        if plain.count < LineKey.byLength.count {
            for (text, key) in LineKey.byLength[plain.count] where text.equals(plain, of: bytes) { return key }
        }
        for key in LineKey.allCases where JSONScanner.isString(bytes.span, in: name, equalTo: key.rawValue) {
            return key
        }
        // The name is the user's own and goes to a terminal: bounded, and without control characters.
        let text = try JSONScanner.string(bytes.span, in: name)
        throw LineFault("unknown key \"\(text.printable(maximumLength: 64))\"")
    }

    private func string(_ value: JSONValue, _ bytes: [UInt8], _ key: LineKey) throws -> String {
        guard value.kind == .string else { throw LineFault("\"\(key.rawValue)\" must be a string") }
        return try JSONScanner.string(bytes.span, in: value.range)
    }

    private func token(_ value: JSONValue, _ bytes: [UInt8], _ name: String) throws -> DeviceToken {
        guard value.kind == .string else { throw LineFault("\"\(name)\" must be a string") }
        if let token = Self.plainToken(bytes, value.range) { return token }
        do {
            return try DeviceToken(try JSONScanner.string(bytes.span, in: value.range))
        } catch let refusal as Refusal {
            throw LineFault(refusal)
        }
    }

    /// A token straight from the line's digits, without a string in between: half the cost of a line. Nil leaves the
    /// judgement, and the words for it, to `DeviceToken`.
    private static func plainToken(_ bytes: [UInt8], _ range: Range<Int>) -> DeviceToken? {
        let digits = (range.lowerBound + 1)..<(range.upperBound - 1)
        return Hex.bytes(bytes.span.extracting(digits)).flatMap(DeviceToken.init(bytes:))
    }

    private mutating func takeTokens(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard value.kind == .array else { throw LineFault("\"tokens\" must be an array of strings") }
        var elements = try JSONElements(bytes.span, in: value.range)
        while let element = try elements.next(bytes.span) {
            guard recipients.count < NotificationLine.maximumTokenCount else {
                throw LineFault("has more than \(NotificationLine.maximumTokenCount) tokens")
            }
            recipients.append(.device(try token(element, bytes, "tokens")))
        }
    }

    private mutating func takeChannel(_ value: JSONValue, _ bytes: [UInt8]) throws {
        do {
            recipients.append(.channel(try BroadcastChannel(try string(value, bytes, .channel))))
        } catch let refusal as Refusal {
            throw LineFault(refusal)
        }
    }

    private mutating func takePriority(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard let number = try? JSONScanner.integer(bytes.span, in: value.range), let code = UInt8(exactly: number),
            let priority = Priority(rawValue: code)
        else { throw LineFault(Refusal(.badPriority, "\"apns-priority\" must be 10, 5 or 1")) }
        self.priority = priority
    }

    private mutating func takeExpiration(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard let seconds = try? JSONScanner.integer(bytes.span, in: value.range), seconds >= 0 else {
            throw LineFault(Refusal(.badExpirationDate, "\"apns-expiration\" must be whole Unix seconds, or 0"))
        }
        expiration = Expiration(unixSeconds: seconds)
    }

    private mutating func takeTryUntil(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard let seconds = try? JSONScanner.integer(bytes.span, in: value.range), seconds > 0 else {
            throw LineFault(Refusal(.badExpirationDate, "\"try-until\" must be whole Unix seconds"))
        }
        tryUntil = seconds
    }

    private func deadline() throws(LineFault) -> Expiration? {
        guard let tryUntil else { return expiration }
        guard expiration == nil || expiration == .once else {
            throw LineFault(Refusal(.badExpirationDate, "\"try-until\" goes with \"apns-expiration\": 0, or none"))
        }
        return expiration == nil ? .unstated(until: tryUntil) : .unstored(until: tryUntil)
    }

    private mutating func takeID(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard let id = NotificationID(try string(value, bytes, .id)) else {
            throw LineFault(Refusal(.badMessageID, "\"apns-id\" must be a UUID of 36 characters"))
        }
        self.id = id
    }

    private mutating func takeGuarantee(_ value: JSONValue, _ bytes: [UInt8]) throws {
        let name = try string(value, bytes, .guarantee)
        guard let guarantee = Guarantee.allCases.first(where: { $0.name == name }) else {
            throw LineFault("\"guarantee\" must be at-least-once or at-most-once")
        }
        self.guarantee = guarantee
    }

    private mutating func takeEnvironment(_ value: JSONValue, _ bytes: [UInt8]) throws {
        guard let environment = PushEnvironment(rawValue: try string(value, bytes, .environment)) else {
            throw LineFault("\"environment\" must be production or sandbox")
        }
        self.environment = environment
    }
}
