internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct BlacklistRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take tokens off the blacklist: they are sent to again.",
        discussion: """
            Either the tokens that are named, or those that the flags choose. It asks first; `blacklist export` keeps what \
            is there.

            Examples:
              holdfast blacklist remove 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0
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
        let ways = [!tokenArguments.tokens.isEmpty, !filterOptions.isEmpty, all].count { $0 }
        guard ways == 1 else {
            throw ValidationError("Name tokens, or choose them by --reason, --route, --since or --until, or say --all.")
        }
    }

    func run() async throws { try await reporting { try await remove() } }

    private struct Report: Encodable {
        /// Tokens that were named, or chosen.
        var matched: Int
        var removed: Int
        var malformed: Int
    }

    private func remove() async throws -> ToolStatus {
        let path = try journalOptions.path()
        let report = tokenArguments.tokens.isEmpty ? try await removeChosen(path) : try await removeNamed(path)
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.removed, "token")) taken off the blacklist of \(path)")
        return report.malformed > 0 ? .badInput : .ok
    }

    private func removeNamed(_ path: String) async throws -> Report {
        let what = tokenArguments.readsInput ? "the tokens" : Format.plural(tokenArguments.tokens.count, "token")
        try consentOptions.ask("Take \(what) off the blacklist of \(path)")
        var report = Report(matched: 0, removed: 0, malformed: 0)
        var progress = WorkProgress("looked at", of: nil)
        report.malformed = try await DeskOpener(journal: path).withDesk { desk in
            try await tokenArguments.forEachBatch { tokens in
                report.matched += tokens.count
                report.removed += try await desk.unblacklist(tokens)
                progress.add(tokens.count)
            }
        }
        progress.end()
        return report
    }

    private func removeChosen(_ path: String) async throws -> Report {
        var report = Report(matched: try count(path), removed: 0, malformed: 0)
        guard report.matched > 0 else { return report }
        try consentOptions.ask("Take \(Format.plural(report.matched, "token")) off the blacklist of \(path)")
        var progress = WorkProgress("removed", of: report.matched)
        try await DeskOpener(journal: path).withDesk { desk in
            let reader = try JournalReader(directory: path)
            defer { reader.close() }
            var listing = BlacklistListing(reader, filterOptions.filter())
            while let page = try listing.next() {
                for start in stride(from: 0, to: page.count, by: OperatorDeskLimits.batch) {
                    let tokens = page[start...].prefix(OperatorDeskLimits.batch).map(\.token)
                    report.removed += try await desk.unblacklist(tokens)
                    progress.add(tokens.count)
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
