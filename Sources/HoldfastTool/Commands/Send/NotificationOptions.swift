internal import ArgumentParser
internal import Holdfast
internal import HoldfastPayload
internal import HoldfastService

/// One notification by hand, for devices or channels: what stands in a file otherwise.
struct NotificationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The device, in hex digits. May be repeated: one notification each.", valueName: "token"))
    var token: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "In place of devices, the channel that Live Activities follow: a broadcast. May be repeated.",
            valueName: "id"))
    var channel: [String] = []

    @Option(name: .long, help: ArgumentHelp("The text that is shown.", valueName: "body"))
    var alert: String?

    @Option(name: .long, help: ArgumentHelp("What is shown above it, in bold.", valueName: "text"))
    var title: String?

    @Option(name: .long, help: ArgumentHelp("What is shown between the two.", valueName: "text"))
    var subtitle: String?

    @Option(name: .long, help: ArgumentHelp("The number on the app's icon; 0 takes it away.", valueName: "number"))
    var badge: Int?

    @Option(name: .long, help: ArgumentHelp("A sound file of the app's, or `default`.", valueName: "name"))
    var sound: String?

    @Option(name: .long, help: ArgumentHelp("Which actions it offers.", valueName: "name"))
    var category: String?

    @Option(name: .long, help: ArgumentHelp("What it is grouped by.", valueName: "id"))
    var thread: String?

    @Flag(
        name: .long,
        help: """
            Wake the app. With neither --alert, --title, --subtitle, --sound nor --badge it is a background notification.
            """)
    var contentAvailable = false

    @Flag(name: .long, help: "Let the app's extension change it before it is shown.")
    var mutableContent = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of a Live Activity: update or end, as of now. (What starts one needs --payload.)",
            valueName: "event"),
        completion: .list(["update", "end"]), transform: Self.event)
    var event: APNsPayload.LiveActivityEvent?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --event, what it shows from now on: a JSON object, @FILE that holds it, or @- for standard input.",
            valueName: "json"))
    var contentState: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The whole payload in place of all these: a JSON object, @FILE that holds it, or @- for standard input.",
            valueName: "json"))
    var payload: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-push-type, such as alert, background or voip. (default: what the flags above make; with --payload none, \
            which Apple takes for alert; of a broadcast always liveactivity)
            """, valueName: "type"),
        completion: .list(PushType.known.map(\.rawValue)), transform: Self.pushType)
    var pushType: PushType?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The apns-priority: 10, 5 or 1. (default: 5 where nothing is shown, heard or counted, else 10)",
            valueName: "number"),
        completion: .list(["10", "5", "1"]), transform: Self.priority)
    var priority: Priority?

    @Option(
        name: .customLong("expiration"),
        help: ArgumentHelp(
            """
            Until when it is worth sending: so long from now (30m, 12h), a time (2026-11-21T12:00:00Z) or Unix seconds; 0 is \
            one attempt, and with --channel no more than that nothing is stored. (default: 24h)
            """, valueName: "time"),
        transform: ExpirationArgument.parse)
    var apnsExpiration: ExpirationArgument?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Until when it is tried, written like --expiration, while the service is told nothing of it; with --expiration 0 \
            nothing is stored for a device that is offline, and this is in place of the one attempt.
            """, valueName: "time"),
        transform: ExpirationArgument.parseDeadline)
    var tryUntil: ExpirationArgument.Deadline?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The apns-collapse-id: a device shows only the last notification of each.", valueName: "id"))
    var collapseID: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The apns-id, a UUID. The same notification again under it is not sent twice. (default: a new one)",
            valueName: "uuid"),
        transform: Self.id)
    var id: NotificationID?
}

// MARK: Values

extension NotificationOptions {
    private static func event(_ text: String) throws -> APNsPayload.LiveActivityEvent {
        switch text {
        case "update": .update
        case "end": .end
        default: throw ValidationError("It must be update or end.")
        }
    }

    private static func pushType(_ text: String) throws -> PushType {
        let type = PushType(rawValue: text)
        guard PushType.known.contains(type) else {
            throw ValidationError("Apple's are \(PushType.known.map(\.rawValue).joined(separator: ", ")).")
        }
        return type
    }

    private static func priority(_ text: String) throws -> Priority {
        guard let number = UInt8(text), let priority = Priority(rawValue: number) else {
            throw ValidationError("It must be 10, 5 or 1.")
        }
        return priority
    }

    private static func id(_ text: String) throws -> NotificationID {
        guard let id = NotificationID(text) else { throw ValidationError("It must be a UUID of 36 characters.") }
        return id
    }
}

/// Until when something is worth sending, and what the service is told of that.
enum ExpirationArgument: Equatable {
    case once
    case until(Deadline)
    case unstored(Deadline)
    case unstated(Deadline)

    enum Deadline: Equatable {
        /// Unix seconds.
        case at(Int64)
        case after(Duration)

        init?(_ text: String) {
            if let seconds = Int64(text), seconds > 0 {
                self = .at(seconds)
            } else if let time = Timestamp.parse(text), time.seconds > 0 {
                self = .at(time.seconds)
            } else if let duration = DurationText.value(text), duration > .zero {
                self = .after(duration)
            } else {
                return nil
            }
        }

        func seconds(_ now: WallTime) -> Int64 {
            switch self {
            case .at(let seconds): seconds
            case .after(let duration): now.advanced(by: duration).seconds
            }
        }
    }

    private static let forms = "It must be like 30m or 12h, a time as 2026-11-21T12:00:00Z, whole Unix seconds"

    static func parse(_ text: String) throws -> ExpirationArgument {
        // As in a file.
        if Int64(text) == 0 { return .once }
        guard let deadline = Deadline(text) else { throw ValidationError("\(forms), or 0.") }
        return .until(deadline)
    }

    static func parseDeadline(_ text: String) throws -> Deadline {
        guard let deadline = Deadline(text) else { throw ValidationError("\(forms), and not 0.") }
        return deadline
    }

    func expiration(_ now: WallTime) -> Expiration {
        switch self {
        case .once: .once
        case .until(let deadline): .at(deadline.seconds(now))
        case .unstored(let deadline): .unstored(until: deadline.seconds(now))
        case .unstated(let deadline): .unstated(until: deadline.seconds(now))
        }
    }
}
