internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct BlacklistAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Put tokens on the blacklist: nothing is sent to them from now on.",
        discussion: """
            Without --topic and --endpoint the entry holds for every topic and every service. If a token has an entry \
            for the same topic and service, the one with the later "since" stays. A notification that waits for such a \
            token is rejected when its turn comes.

            Examples:
              holdfast blacklist add 00fc13adff785122b4ad28809a3420982341241421348097
              holdfast blacklist add - --reason UserDeleted <tokens.txt
              holdfast blacklist add - --topic com.example.app <tokens.txt
            """)

    @OptionGroup var tokenArguments: TokenArguments
    @OptionGroup var placeOptions: PlaceOptions

    @Option(name: .long, help: ArgumentHelp("The reason, one word.", valueName: "reason"))
    var reason = BlacklistEntry.byOperator.rawValue

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The time since when the tokens are bad. A registration after it removes the entry. (default: now)
            """, valueName: "time"),
        transform: AgeArgument.parse)
    var since: AgeArgument?

    @Option(name: .long, help: ArgumentHelp("The route that the entry names.", valueName: "route"))
    var route = BlacklistEntry.operatorRoute

    @OptionGroup var scopeOptions: BlacklistScopeOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard !tokenArguments.tokens.isEmpty else { throw ValidationError("Name tokens, or - for standard input.") }
        guard (1...255).contains(reason.utf8.count) else { throw ValidationError("--reason has 1 to 255 bytes.") }
        guard route.utf8.count <= 255 else { throw ValidationError("--route has at most 255 bytes.") }
        guard scopeOptions.endpoint.map(Self.isServed) ?? true else {
            throw ValidationError(
                "--endpoint: no push service is reached so; it takes `production`, `sandbox`, https://HOST[:PORT], or "
                    + "binary+tls://HOST[:PORT].")
        }
    }

    /// Whether a route can lead there: an entry for anywhere else would never hold.
    private static func isServed(_ service: String) -> Bool {
        ["https://", "http://", "binary://", "binary+tls://"].contains(where: service.hasPrefix)
    }

    func run() async throws { try await reporting { try await add() } }

    private func add() async throws -> ToolStatus {
        let place = try await placeOptions.blacklistPlace()
        let now = EngineClock.system.wall()
        let since = since?.time(now) ?? now
        var progress = WorkProgress("added", of: nil)
        let malformed = try await DeskOpener(place).withDesk { desk in
            try await tokenArguments.forEachBatch { tokens in
                try await desk.blacklist(
                    tokens.map { token in
                        BlacklistEntry(
                            recipient: token, reason: Reason(rawValue: reason), since: since, learntAt: now,
                            route: route,
                            topic: scopeOptions.topic, endpoint: scopeOptions.endpoint)
                    })
                progress.add(tokens.count)
            }
        }
        progress.end()
        let report = BlacklistAdditionForm(added: progress.done, malformed: malformed)
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.added, "token")) put on the blacklist of \(place)")
        return malformed > 0 ? .badInput : .ok
    }
}
