internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

struct BlacklistCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Tell whether tokens are on the blacklist.",
        discussion: """
            Without --topic and --endpoint, an entry for any topic and any service counts; of several, the latest is \
            printed. One that has ended, as those of FCM do after 30 days, holds up nothing and does not count. A notification \
            whose token was registered after the entry's "since" is sent all the same, and removes the entry. On a fleet, see `holdfast blacklist list --help` for which copy is looked at.

            Examples:
              holdfast blacklist check 00fc13adff785122b4ad28809a3420982341241421348097
              holdfast blacklist check - <tokens.txt --json

            Exit codes: 0 none of the tokens is on the blacklist · 1 some are · 65 a line was no token · 66 nobody here knows, since the host's copy of a fleet's blacklist is not there, or was never filled.
            """)

    @OptionGroup var tokenArguments: TokenArguments
    @OptionGroup var scopeOptions: BlacklistScopeOptions
    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print tokens whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard !tokenArguments.tokens.isEmpty else { throw ValidationError("Name tokens, or - for standard input.") }
    }

    func run() async throws { try await reporting { try await check() } }

    private struct Row: Encodable {
        var token: String
        /// Beside what the entry says where there is one.
        var blacklisted: Bool
        var entry: BlacklistForm?

        private enum CodingKeys: String, CodingKey { case token, blacklisted }

        func encode(to encoder: any Encoder) throws {
            try entry?.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(token, forKey: .token)
            try container.encode(blacklisted, forKey: .blacklisted)
        }
    }

    private func check() async throws -> ToolStatus {
        try await placeOptions.blacklistPlace().withBlacklist { source in
            var found = 0
            let malformed = try await tokenArguments.forEachBatch { tokens in
                var lines: [String] = []
                let now = EngineClock.system.wall()
                for (token, entries) in zip(tokens, try await source.blacklistEntries(for: tokens)) {
                    let entry = TokenBlacklist.forbidding(
                        entries, topic: scopeOptions.topic, endpoint: scopeOptions.endpoint, registeredAt: nil, now: now
                    ).map { BlacklistForm($0, isWhole: reveal) }
                    if entry != nil { found += 1 }
                    lines.append(try line(token, entry))
                }
                Console.standard.print(lines.joined(separator: "\n"))
            }
            return malformed > 0 ? .badInput : found > 0 ? .notAllConfirmed : .ok
        }
    }

    private func line(_ token: Recipient, _ entry: BlacklistForm?) throws -> String {
        let name = reveal ? token.notation : "\(token)"
        guard json else { return "\(name)  " + (entry.map { "blacklisted: \($0.words)" } ?? "not blacklisted") }
        return try JSONOutput.line(Row(token: name, blacklisted: entry != nil, entry: entry))
    }
}
