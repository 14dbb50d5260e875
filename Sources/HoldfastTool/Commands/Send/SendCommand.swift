internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Journal notifications from a file or from flags, and deliver them.",
        discussion: """
            A file has one JSON object a line, with Apple's names for the headers; Docs/Reference/Tool.md lists all of \
            them.

            An example:
              {"token":"00fc…","apns-topic":"com.example","payload":{"aps":{"alert":"Hi"}}}

            Without a file, flags describe one notification: --token or --channel, and --alert and the like, or \
            --payload. The outcome is printed for each recipient, with its apns-id and, if the service refused it, the \
            reason. If another process uses the journal, such as a gateway, that process takes the notification, or \
            the file, and sends it.

            Examples:
              holdfast send notifications.ndjson --journal push.journal \\
                --endpoint sandbox --key AuthKey_ABC.p8 --key-id ABC --team-id XYZ
              holdfast send more.ndjson --journal push.journal
              holdfast send --journal push.journal --topic com.example.app \\
                --token 00fc13ad… --title Reservation --alert "Your table is ready"
              holdfast send --journal push.journal --token 00fc13ad… \\
                --payload @payload.json --expiration 10m
              holdfast send --journal push.journal --channel dHN0LXNyY2gtY2hubA== \\
                --event update --content-state '{"score":[1,0]}' --alert "Goal!"

            A notification is on disk before it is sent, and stays there until the service has answered. If `send` is \
            killed, `recover` delivers what it had taken, and `send --resume` takes the rest of the file.

            The binary protocol (binary+tls://) answers errors only. To confirm the rest, `send` adds a barrier: a \
            notification that is wrong on purpose. Its refusal proves that the service took all notifications before \
            it. With --confirm quiet, silence counts as confirmation instead.

            Write a text that begins with a dash as --alert=-5°.

            Exit codes are those of `holdfast --help`. 64 is also a file that was begun before, without --resume or \
            --restart; 1 means that some notifications were rejected, expired or are unknown.
            """)

    @Argument(
        help: ArgumentHelp("The input, one JSON object a line; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String?

    @OptionGroup(title: "One notification, instead of a file") var notificationOptions: NotificationOptions
    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var routeOptions: RouteOptions
    @OptionGroup var deliveryOptions: DeliveryOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The environment, for a notification given by flags and for lines without one, if routes of both serve its \
            topic: `production` or `sandbox`. (default: limits.default-environment of the configuration)
            """, valueName: "environment"),
        completion: .list(PushEnvironment.allCases.map(\.rawValue)), transform: Self.environment)
    var environment: PushEnvironment?

    @Flag(
        name: .long,
        help: """
            Journal the notifications, and send nothing: `recover` sends them later.
            """)
    var queueOnly = false

    @Flag(
        name: .long,
        help: """
            Continue a file that was begun: no line is skipped or taken twice.
            """)
    var resume = false

    @Flag(
        name: .long,
        help: """
            Send a file that was begun again, from its first line: lines that were taken go twice.
            """)
    var restart = false

    @Flag(
        name: .long,
        help: """
            Check the whole file first, and take none of it if a line is bad.
            """)
    var strict = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Write a line of JSON to this file for each notification of the input, with its line number and what became \
            of it. A later run with --resume completes it.
            """, valueName: "file"),
        completion: .file())
    var report: String?

    func validate() throws {
        if report == "" || report == "-" {
            throw ValidationError("--report names a file: a later run with --resume goes on with it.")
        }
        if resume, restart { throw ValidationError("--resume and --restart exclude each other.") }
        guard let file else { return try validateByHand() }
        if let flag = notificationOptions.given.first {
            throw ValidationError(
                "\(file.debugDescription) and \(flag) exclude each other: send a file, or one by hand.")
        }
        if strict, file == "-" {
            throw ValidationError("--strict reads its input twice, and standard input can be read once.")
        }
    }

    private static let missing = ValidationError(
        "Missing what to send: a <file>, or --token <token> with --alert <body>.")

    private func validateByHand() throws {
        // Without anything to send it is refused when it runs: an unknown flag is told before.
        guard let first = notificationOptions.given.first else { return }
        let flags = [
            ("--resume", resume), ("--restart", restart), ("--strict", strict), ("--report", report != nil),
        ]
        if let (flag, _) = flags.first(where: { $0.1 }) {
            throw ValidationError("\(flag) is for a file, and \(first) is for a notification by hand.")
        }
        try notificationOptions.check()
    }

    private static func environment(_ text: String) throws -> PushEnvironment {
        guard let environment = PushEnvironment(rawValue: text) else {
            throw ValidationError("It must be production or sandbox.")
        }
        return environment
    }

    var mode: ResumeMode { resume ? .resume : restart ? .restart : .fresh }

    func run() async throws { try await reporting { try await send() } }

    /// The source of the notifications.
    enum Source {
        case file(InputFile)
        case flags(NotificationDraft)
    }

    private func source() async throws -> Source {
        if let draft = try await NotificationDraft.read(notificationOptions) { return .flags(draft) }
        guard let file else { throw Self.missing }
        return .file(try InputFile(file))
    }

    private func send() async throws -> ToolStatus {
        guard file != nil || !notificationOptions.given.isEmpty else { throw Self.missing }
        let configuration = deliveryOptions.over(try journalOptions.load())
        let path = try journalOptions.path(configuration.journal)
        let plan = RoutePlan(configuration, routeOptions, deliveryOptions)
        let source = try await source()
        let wait = OwnerWait()
        var isWaiting = false
        while true {
            if let desk = try await DeskOpener.live(path) {
                let taken =
                    switch source {
                    case .flags(let draft): try await handOver(draft, to: desk, of: path, plan, configuration)
                    case .file(let input): try await handOver(input, to: desk, of: path, plan, configuration)
                    }
                await desk.close()
                if let taken { return taken }
            }
            do {
                return try await deliver(source, by: path, plan, configuration)
            } catch let error as JournalError where error.code == .ownedByAnotherProcess {
                // A service that has just begun takes the file when it has its socket.
                guard case .file = source, !wait.isOver else { throw error }
                if !isWaiting { Console.standard.note("\(error.message): waiting until it takes a file") }
                isWaiting = true
            }
            try await wait.pause()
        }
    }

    /// Gives the notifications to the process that uses the journal, which sends them by its own routes.
    ///
    /// - Returns: nil when it delivers nothing.
    private func handOver(
        _ draft: NotificationDraft, to desk: RemoteDesk, of journal: String, _ plan: RoutePlan,
        _ configuration: HoldfastConfiguration
    ) async throws -> ToolStatus? {
        try refuseFlagsForOwner(desk)
        let owned = OwnedJournal(directory: journal)
        let defaults = plan.defaults(remembered: try await owned.rememberedRoute(), environment)
        let notifications = try notifications(draft, defaults)
        let handOver = HandOver(
            desk: desk, journal: owned, isQueueOnly: queueOnly, giveUpAfter: configuration.limits.giveUpAfter,
            json: deliveryOptions.json)
        do {
            return try await handOver.run(notifications)
        } catch let error as JournalError where error.code == .notFound {
            return nil
        }
    }

    /// Gives a file to the process that uses the journal.
    ///
    /// - Returns: nil when it delivers nothing.
    private func handOver(
        _ input: InputFile, to desk: RemoteDesk, of journal: String, _ plan: RoutePlan,
        _ configuration: HoldfastConfiguration
    ) async throws -> ToolStatus? {
        try refuseFlagsForOwner(desk)
        let owned = OwnedJournal(directory: journal)
        let sending = FileSending(
            journal: journal, source: owned.place, mode: mode,
            defaults: plan.defaults(remembered: try await owned.rememberedRoute(), environment))
        return try await sending.handOver(
            input, to: desk, report: report, isStrict: strict,
            FileHandOver.Options(
                isQueueOnly: queueOnly, giveUpAfter: configuration.limits.giveUpAfter,
                fullLimit: configuration.journal.fullLimit, json: deliveryOptions.json))
    }

    /// A flag that would do nothing is a mistake of somebody's.
    private func refuseFlagsForOwner(_ desk: RemoteDesk) throws {
        guard let flag = (routeOptions.given + deliveryOptions.givenForOwner).first else { return }
        throw ToolError(
            .usage, "\(desk.owner) uses the journal, and sends by routes and limits of its own: leave \(flag) out")
    }

    func remember(
        _ route: RouteSettings, inPlaceOf remembered: RouteSettings?, in journal: LMDBJournal
    ) throws {
        guard route != remembered else { return }
        sayRouteChange(from: remembered, to: route, unconfirmed: try journal.status().unconfirmed)
        try route.write(to: journal)
    }

    func notifications(_ draft: NotificationDraft, _ defaults: LineDefaults) throws -> [PushNotification] {
        if draft.isGoogles {
            guard let project = defaults.project else {
                throw ValidationError(
                    "Missing --project <project>: neither the journal nor a configuration says one for all messages.")
            }
            return try draft.notifications(topic: project)
        }
        guard let topic = defaults.topic else {
            throw ValidationError(
                "Missing --topic <topic>: neither the journal nor a configuration says one for all notifications.")
        }
        return try draft.notifications(topic: topic, environment: environment)
    }

    func ready(_ plan: RoutePlan, remembered: RouteSettings?) throws -> [ReadyRoute] {
        try plan.routes(
            remembered: remembered,
            missingEndpoint:
                "Missing --endpoint <url>: this journal remembers none yet, and no configuration has routes.")
    }

    private func sayRouteChange(from old: RouteSettings?, to new: RouteSettings, unconfirmed: Int) {
        guard let old, old.endpoint != new.endpoint, unconfirmed > 0 else { return }
        Console.standard.warning(
            "\(Format.plural(unconfirmed, "notification")) that waited for \(old.endpoint) will go to \(new.endpoint)")
    }
}
