internal import ArgumentParser
internal import Holdfast
internal import HoldfastPayload
internal import HoldfastService

/// One notification by hand, for devices or channels: what stands in a file otherwise.
struct NotificationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The token of a device, in hex digits; may be repeated, for one notification each.
            """, valueName: "token"))
    var token: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Broadcast to this channel, which Live Activities follow, instead of to devices; may be repeated.
            """,
            valueName: "id"))
    var channel: [String] = []

    @OptionGroup var firebase: FirebaseMessageOptions

    @Option(name: .long, help: ArgumentHelp("The text of the alert.", valueName: "body"))
    var alert: String?

    @Option(name: .long, help: ArgumentHelp("The title, shown above the text.", valueName: "text"))
    var title: String?

    @Option(name: .long, help: ArgumentHelp("The subtitle, shown between title and text.", valueName: "text"))
    var subtitle: String?

    @Option(name: .long, help: ArgumentHelp("The number on the app's icon; 0 removes it.", valueName: "number"))
    var badge: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The name of a sound file in the app, or `default`.
            """, valueName: "name"))
    var sound: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The category, which names the actions that the app offers.
            """, valueName: "name"))
    var category: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The thread id, by which the device groups notifications.
            """, valueName: "id"))
    var thread: String?

    @Flag(
        name: .long,
        help: """
            Wake the app. Without --alert, --title, --subtitle, --sound and --badge it is a background notification.
            """)
    var contentAvailable = false

    @Flag(
        name: .long,
        help: """
            Let the app's extension change the notification before it is shown.
            """)
    var mutableContent = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Update or end a Live Activity, as of now: `update` or `end`. To start one, use --payload.
            """,
            valueName: "event"),
        completion: .list(["update", "end"]), transform: Self.event)
    var event: APNsPayload.LiveActivityEvent?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            With --event, the new state of the Live Activity: a JSON object, @FILE, or @- for standard input.
            """,
            valueName: "json"))
    var contentState: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The whole payload, instead of the flags above: a JSON object, @FILE, or @- for standard input.
            """,
            valueName: "json"))
    var payload: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-push-type, such as alert, background or voip. (default: what \
            the flags above make; with --payload none, which Apple takes for alert; for a broadcast always liveactivity)
            """, valueName: "type"),
        completion: .list(PushType.known.map(\.rawValue)), transform: Self.pushType)
    var pushType: PushType?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-priority: 10, 5 or 1. (default: 5 for a background notification, else 10)
            """,
            valueName: "number"),
        completion: .list(["10", "5", "1"]), transform: Self.priority)
    var priority: Priority?

    @Option(
        name: .customLong("expiration"),
        help: ArgumentHelp(
            """
            The time after which the notification is not sent any more: a duration from now (30m, 12h), a time \
            (2026-11-21T12:00:00Z) or Unix seconds. 0 means one attempt; for a broadcast, only that the service \
            stores nothing. (default: the service is told none, and sending is tried for 24h)
            """, valueName: "time"),
        transform: ExpirationArgument.parse)
    var apnsExpiration: ExpirationArgument?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The time until which sending is tried, written like --expiration, without telling the service an \
            expiration. With --expiration 0 the service stores nothing for a device that is offline, and sending \
            is tried until this time instead of once.
            """, valueName: "time"),
        transform: ExpirationArgument.parseDeadline)
    var tryUntil: ExpirationArgument.Deadline?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-collapse-id: of notifications with the same one, a device shows only the last.
            """, valueName: "id"))
    var collapseID: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-id, a UUID. The same notification with the same apns-id is not sent twice. (default: a new \
            one)
            """,
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
        // Zero means one attempt, as in a file.
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
