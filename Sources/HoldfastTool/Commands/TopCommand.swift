internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch a running service: rates, what waits, lanes, routes and rejections, with keys to steer it.",
        discussion: """
            Asks the process that uses the journal, over its control socket, and draws the answers on the terminal. On \
            what is no terminal it prints one snapshot, whose rates are those of one interval.

            Keys: up and down select a lane, p pauses it and r resumes it (both ask first), / finds notifications by \
            token, apns-id or tag, ? explains, q quits. Colours are left out with NO_COLOR, and signs that are not ASCII \
            unless the locale is of UTF-8.

            Examples:
              holdfast top
              holdfast top --journal push.journal --interval 5s
              holdfast top --once --json | jq .rates

            Exit codes: 0 · 69 no process that can be asked uses the journal · others as in `holdfast --help`.
            """)

    @OptionGroup var placeOptions: PlaceOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The time between two looks (500ms, 1s, 1m). (default: 1s)", valueName: "duration"),
        transform: DurationArgument.parse)
    var interval: Duration?

    @Flag(name: .long, help: "Print one snapshot, and end.")
    var once = false

    @Flag(name: .long, help: "Print one JSON object a line: each interval, or with --once one.")
    var json = false

    func validate() throws {
        guard (Duration.milliseconds(100)...(.seconds(3600))).contains(interval ?? .seconds(1)) else {
            throw ValidationError("--interval must be 100ms to 1h.")
        }
    }

    func run() async throws { try await reporting { try await watch() } }

    private func watch() async throws -> ToolStatus {
        let environment = ProcessInfo.processInfo.environment
        let owner = TopOwner(try placeOptions.place())
        let every = interval ?? .seconds(1)
        let signs = TopSigns(environment: environment)
        do {
            let (first, name) = try await owner.ask()
            if json || once { return try await snapshots(owner, first, name, every, signs) }
            guard let terminal = TopTerminal(environment: environment) else {
                return try await snapshots(owner, first, name, every, signs)
            }
            let usesColor = (environment["NO_COLOR"] ?? "").isEmpty
            try await TopSession(owner, terminal, interval: every, signs: signs, usesColor: usesColor).run()
            return .ok
        } catch let error as ControlError where error.code == .notServed {
            throw owner.place.unserved(
                atRest:
                    "no process that can be asked uses \(owner.place): `holdfast journal status` tells of one at rest",
                status: .unavailable)
        }
    }

    /// Looks twice, and prints what is between; with `--json` and without `--once`, again and again.
    private func snapshots(
        _ owner: TopOwner, _ first: TopSample, _ name: String, _ every: Duration, _ signs: TopSigns
    ) async throws -> ToolStatus {
        var model = TopModel(journal: "\(owner.place)", owner: name, interval: every)
        model.history.add(first)
        repeat {
            try await Task.sleep(for: every)
            let (sample, name) = try await owner.ask()
            model.owner = name
            model.history.add(sample)
            let now = EngineClock.system.wall()
            if json {
                Console.standard.print(try JSONOutput.line(TopReport(model, sample)))
            } else {
                let size = TopSize(columns: TerminalSize.columns(of: STDOUT_FILENO) ?? 100, rows: 60)
                let screen = TopScreen(model: model, size: size, signs: signs, now: now)
                for line in screen.snapshot() { Console.standard.print(line.text) }
            }
        } while json && !once && Console.standard.hasReader
        return .ok
    }
}
