internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct BlacklistListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the blacklisted tokens, with reason and time.",
        discussion: """
            Entries that have ended, as those of FCM do after 30 days, are left out and counted on standard error. \
            In the order of the tokens, with the topic and the service for which each entry holds; * stands for every \
            one. Tokens are personal data: they are shortened unless --reveal is given. On a fleet this is the host's own \
            copy of the blacklist that hosts share, and a line on standard error says as of when; --journal-name reads the \
            copy of that journal's owner.

            Examples:
              holdfast blacklist list --reason Unregistered --since 7d
              holdfast blacklist list --count
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var filterOptions: BlacklistFilterOptions

    @Option(name: .long, help: ArgumentHelp("The most entries to print.", valueName: "count"))
    var limit = 100

    @Option(name: .long, help: ArgumentHelp("Begin behind this token.", valueName: "token"))
    var after: String?

    @Flag(name: .long, help: "Print counts by reason instead of entries.")
    var count = false

    @Flag(name: .long, help: "Print tokens whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
        _ = try afterToken()
    }

    private func afterToken() throws -> Recipient? {
        do {
            return try after.map { try Recipient(argument: $0) }
        } catch {
            throw ValidationError("--after needs a whole token: \(error)")
        }
    }

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        try await placeOptions.blacklistPlace().withBlacklist { source in
            try await list(
                BlacklistListing(source, filterOptions.filter(), after: try afterToken(), at: EngineClock.system.wall())
            )
        }
    }

    private func list(_ listing: BlacklistListing) async throws -> ToolStatus {
        var listing = listing
        if count { return try await printCounts(&listing) }
        var left = limit
        var last: Recipient?
        while left > 0, let page = try await listing.next() {
            // All of a token, since the next listing begins behind one.
            let cut = page.prefix(left).last.map(\.recipient)
            let wanted = page.enumerated().prefix { $0.offset < left || $0.element.recipient == cut }.map(\.element)
            guard !wanted.isEmpty else { continue }
            let rows = wanted.map { BlacklistForm($0, isWhole: reveal) }
            let lines =
                json
                ? try rows.map(JSONOutput.line).joined(separator: "\n")
                : BlacklistForm.table(rows, withHeading: last == nil)
            Console.standard.print(lines)
            left -= wanted.count
            last = wanted.last?.recipient
        }
        listing.tellLeftOut(reveal: reveal)
        if last == nil, !json { Console.standard.note("there are no such entries") }
        if left <= 0, let last, !json {
            Console.standard.note(
                "more may follow: --after \(reveal ? last.notation : "the last token, which --reveal shows")")
        }
        return .ok
    }

    private struct Count: Encodable {
        var reason: String
        var count: Int
    }

    /// Reasons that are told apart; the rest are counted as one.
    private static let greatestReasonCount = 1000

    private func printCounts(_ listing: inout BlacklistListing) async throws -> ToolStatus {
        var counts: [String: Int] = [:]
        while let page = try await listing.next() {
            for entry in page {
                let isKnown = counts[entry.reason.rawValue] != nil || counts.count < Self.greatestReasonCount
                counts[isKnown ? entry.reason.rawValue : "(others)", default: 0] += 1
            }
        }
        let rows = counts.map { Count(reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
        if json {
            for row in rows { Console.standard.print(try JSONOutput.line(row)) }
            return .ok
        }
        let all = rows.reduce(0) { $0 + $1.count }
        let cells = rows.map { [$0.reason.printable(maximumLength: 64), Format.count($0.count)] }
        Console.standard.print(Columns.text([["REASON", "COUNT"]] + cells + [["all", Format.count(all)]], right: [1]))
        return .ok
    }
}
