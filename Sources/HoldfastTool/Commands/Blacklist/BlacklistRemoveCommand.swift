internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct BlacklistRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take tokens off the blacklist: they are sent to again.",
        discussion: """
            Removes all entries of the named tokens, or only those for --topic and --endpoint; or, without tokens, the \
            entries that the other flags choose. Asks first. `blacklist export` keeps a copy.

            Examples:
              holdfast blacklist remove 00fc13adff785122b4ad28809a3420982341241421348097
              holdfast blacklist remove --reason BadDeviceToken --since 2h --yes
            """)

    @OptionGroup var tokenArguments: TokenArguments
    @OptionGroup var filterOptions: BlacklistFilterOptions

    @Flag(name: .long, help: "All tokens.")
    var all = false

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var consentOptions: ConsentOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        // Named tokens may be narrowed by the scope alone.
        let isChosen = tokenArguments.tokens.isEmpty ? !filterOptions.isEmpty : filterOptions.choosesBeyondScope
        let ways = [!tokenArguments.tokens.isEmpty, isChosen, all].count { $0 }
        guard ways == 1, !all || filterOptions.isEmpty else {
            throw ValidationError(
                "Name tokens (with --topic or --endpoint for some of their entries), or choose entries by --reason, --route, "
                    + "--since, --until, --topic or --endpoint, or say --all.")
        }
    }

    func run() async throws { try await reporting { try await remove() } }

    private func remove() async throws -> ToolStatus {
        let place = try await placeOptions.blacklistPlace()
        let report = tokenArguments.tokens.isEmpty ? try await removeChosen(place) : try await removeNamed(place)
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.removed, "entry", "entries")) taken off the blacklist of \(place)")
        return report.malformed ?? 0 > 0 ? .badInput : .ok
    }

    private func removeNamed(_ place: JournalPlace) async throws -> BlacklistRemovalForm {
        let what = tokenArguments.readsInput ? "the tokens" : Format.plural(tokenArguments.tokens.count, "token")
        try consentOptions.ask("Take \(what) off the blacklist of \(place)")
        var report = BlacklistRemovalForm(matched: 0, removed: 0, malformed: 0)
        var progress = WorkProgress("looked at", of: nil)
        report.malformed = try await DeskOpener(place).withDesk { desk in
            try await tokenArguments.forEachBatch { tokens in
                report.matched += tokens.count
                let keys = try await keys(of: tokens, place)
                for start in stride(from: 0, to: keys.count, by: OperatorDeskLimits.batch) {
                    let part = Array(keys[start...].prefix(OperatorDeskLimits.batch))
                    report.removed += try await desk.unblacklist(part)
                }
                progress.add(tokens.count)
            }
        }
        progress.end()
        return report
    }

    /// All entries of the tokens, or those for the topic and service that are named.
    private func keys(of tokens: [Recipient], _ place: JournalPlace) async throws -> [BlacklistKey] {
        guard !filterOptions.isEmpty else { return tokens.map { BlacklistKey($0) } }
        let filter = filterOptions.filter()
        return try await place.withSource { source in
            try await source.blacklistEntries(for: tokens).flatMap { $0.filter(filter.matches).map(\.key) }
        }
    }

    private func removeChosen(_ place: JournalPlace) async throws -> BlacklistRemovalForm {
        var report = BlacklistRemovalForm(matched: try await count(place), removed: 0, malformed: 0)
        guard report.matched > 0 else { return report }
        try consentOptions.ask(
            "Take \(Format.plural(report.matched, "entry", "entries")) off the blacklist of \(place)")
        var progress = WorkProgress("removed", of: report.matched)
        try await DeskOpener(place).withDesk { desk in
            try await place.withSource { source in
                var listing = BlacklistListing(source, filterOptions.filter(), at: nil)
                while let page = try await listing.next() {
                    for start in stride(from: 0, to: page.count, by: OperatorDeskLimits.batch) {
                        let keys = page[start...].prefix(OperatorDeskLimits.batch).map(\.key)
                        report.removed += try await desk.unblacklist(keys)
                        progress.add(keys.count)
                    }
                }
            }
        }
        progress.end()
        return report
    }

    private func count(_ place: JournalPlace) async throws -> Int {
        try await place.withSource { source in
            var listing = BlacklistListing(source, filterOptions.filter(), at: nil)
            var count = 0
            while let page = try await listing.next() { count += page.count }
            return count
        }
    }
}
