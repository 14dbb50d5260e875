internal import ArgumentParser
internal import Holdfast

/// One notification by hand, for one device or several: what stands in a file otherwise.
struct NotificationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The device, in hex digits. May be repeated: one notification each.", valueName: "token"))
    var token: [String] = []

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
            "The whole payload in place of all these: a JSON object, @FILE that holds it, or @- for standard input.",
            valueName: "json"))
    var payload: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-push-type, such as alert, background or voip. (default: what the flags above make; with --payload none, \
            which Apple takes for alert)
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
        name: .long,
        help: ArgumentHelp(
            """
            Until when it is worth sending: so long from now (30m, 12h), a time (2026-11-21T12:00:00Z) or Unix seconds; 0 is \
            one attempt. (default: 24h)
            """, valueName: "time"),
        transform: ExpirationArgument.parse)
    var expiration: ExpirationArgument?

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

    /// Flags that were given, in the order of the help.
    var given: [String] {
        (token.isEmpty ? [] : ["--token"]) + contents + (payload == nil ? [] : ["--payload"])
            + [
                pushType.map { _ in "--push-type" }, priority.map { _ in "--priority" },
                expiration.map { _ in "--expiration" }, collapseID.map { _ in "--collapse-id" }, id.map { _ in "--id" },
            ].compactMap { $0 }
    }

    /// Flags that were given and make a payload.
    private var contents: [String] {
        noticed
            + [
                category.map { _ in "--category" }, thread.map { _ in "--thread" },
                contentAvailable ? "--content-available" : nil, mutableContent ? "--mutable-content" : nil,
            ].compactMap { $0 }
    }

    /// Of them, those that the user notices.
    private var noticed: [String] {
        [
            alert.map { _ in "--alert" }, title.map { _ in "--title" }, subtitle.map { _ in "--subtitle" },
            badge.map { _ in "--badge" }, sound.map { _ in "--sound" },
        ].compactMap { $0 }
    }
}

// MARK: What contradicts

extension NotificationOptions {
    /// - Throws: a `ValidationError` that names what contradicts, or is missing.
    func check() throws {
        guard let first = given.first else { return }
        guard !token.isEmpty else { throw ValidationError("\(first) needs --token: the device that it is for.") }
        guard token.count <= NotificationLine.maximumTokenCount else {
            throw ValidationError(
                "--token can be given \(NotificationLine.maximumTokenCount) times; write a file of more.")
        }
        for text in token {
            do throws(Refusal) {
                _ = try DeviceToken(sanitizing: text)
            } catch {
                // Not what it was: it may be a token all the same.
                throw ValidationError("One of the tokens is none: \(error.detail).")
            }
        }
        if let content = contents.first, payload != nil {
            throw ValidationError("--payload and \(content) exclude each other: a payload is the whole of it.")
        }
        guard payload != nil || !contents.isEmpty else {
            throw ValidationError("--token needs something to send: --alert, another flag of a payload, or --payload.")
        }
        if id != nil, token.count > 1 {
            throw ValidationError("--id is for one notification, and --token was given \(token.count) times.")
        }
        try validateBackground()
    }

    /// Apple refuses background notifications of another priority than 5, and devices do not show them.
    private func validateBackground() throws {
        let isImplied = pushType == nil && contentAvailable && noticed.isEmpty
        guard pushType == .background || isImplied else { return }
        let cause = isImplied ? "--content-available alone" : "--push-type background"
        if let priority, priority != .considerate {
            throw ValidationError(
                "\(cause) and --priority \(priority.rawValue) contradict: a background notification has priority 5.")
        }
        guard payload == nil else { return }
        if let seen = noticed.first {
            throw ValidationError("--push-type background and \(seen) contradict: it shows, sounds and counts nothing.")
        }
        if !contentAvailable {
            throw ValidationError("--push-type background needs --content-available: that is what wakes the app.")
        }
    }
}

// MARK: Values

extension NotificationOptions {
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

/// Until when something is worth sending.
enum ExpirationArgument: Equatable {
    case at(Expiration)
    case after(Duration)

    static func parse(_ text: String) throws -> ExpirationArgument {
        // Digits alone are Unix seconds, as in a file.
        if let seconds = Int64(text), seconds >= 0 { return .at(Expiration(unixSeconds: seconds)) }
        if let time = Timestamp.parse(text), time.seconds > 0 { return .at(.at(time.seconds)) }
        if let duration = DurationArgument.value(text) { return .after(duration) }
        throw ValidationError("It must be like 30m or 12h, a time as 2026-11-21T12:00:00Z, whole Unix seconds, or 0.")
    }

    func expiration(_ now: WallTime) -> Expiration {
        switch self {
        case .at(let expiration): expiration
        case .after(let duration): .at(now.advanced(by: duration).seconds)
        }
    }
}
