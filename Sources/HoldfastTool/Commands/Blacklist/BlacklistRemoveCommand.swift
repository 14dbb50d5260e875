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

    @OptionGroup var journalOptions: JournalOptions
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
        let path = try journalOptions.path()
        let report = tokenArguments.tokens.isEmpty ? try await removeChosen(path) : try await removeNamed(path)
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.removed, "entry", "entries")) taken off the blacklist of \(path)")
        return report.malformed ?? 0 > 0 ? .badInput : .ok
    }

    private func removeNamed(_ path: String) async throws -> BlacklistRemovalForm {
        let what = tokenArguments.readsInput ? "the tokens" : Format.plural(tokenArguments.tokens.count, "token")
        try consentOptions.ask("Take \(what) off the blacklist of \(path)")
        var report = BlacklistRemovalForm(matched: 0, removed: 0, malformed: 0)
        var progress = WorkProgress("looked at", of: nil)
        report.malformed = try await DeskOpener(journal: path).withDesk { desk in
            try await tokenArguments.forEachBatch { tokens in
                report.matched += tokens.count
                let keys = try keys(of: tokens, path)
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
    private func keys(of tokens: [Recipient], _ path: String) throws -> [BlacklistKey] {
        guard !filterOptions.isEmpty else { return tokens.map { BlacklistKey($0) } }
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        let filter = filterOptions.filter()
        return try tokens.flatMap { token in
            try reader.blacklistEntries(for: token).filter(filter.matches).map(\.key)
        }
    }

    private func removeChosen(_ path: String) async throws -> BlacklistRemovalForm {
        var report = BlacklistRemovalForm(matched: try count(path), removed: 0, malformed: 0)
        guard report.matched > 0 else { return report }
        try consentOptions.ask("Take \(Format.plural(report.matched, "entry", "entries")) off the blacklist of \(path)")
        var progress = WorkProgress("removed", of: report.matched)
        try await DeskOpener(journal: path).withDesk { desk in
            let reader = try JournalReader(directory: path)
            defer { reader.close() }
            var listing = BlacklistListing(reader, filterOptions.filter())
            while let page = try listing.next() {
                for start in stride(from: 0, to: page.count, by: OperatorDeskLimits.batch) {
                    let keys = page[start...].prefix(OperatorDeskLimits.batch).map(\.key)
                    report.removed += try await desk.unblacklist(keys)
                    progress.add(keys.count)
                }
            }
        }
        progress.end()
        return report
    }

    private func count(_ path: String) throws -> Int {
        let reader = try JournalReader(directory: path)
        defer { reader.close() }
        var listing = BlacklistListing(reader, filterOptions.filter())
        var count = 0
        while let page = try listing.next() { count += page.count }
        return count
    }
}
