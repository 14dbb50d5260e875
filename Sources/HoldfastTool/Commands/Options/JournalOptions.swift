internal import ArgumentParser
internal import Foundation
internal import HoldfastService

/// Which journal.
struct JournalOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The journal's directory. (default: HOLDFAST_JOURNAL, or the configuration's journal.path)",
            valueName: "dir"),
        completion: .directory)
    var journal: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A journal of the fleet, by its name in the database of journal.postgres: its owner is asked, whichever host \
            that is. (default: this host's own)
            """, valueName: "name"),
        completion: JournalNameCompletion.kind)
    var journalName: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long the owner of a journal on another host may take to answer (5s, 1m). (default: 30s)",
            valueName: "duration"),
        transform: DurationArgument.parse)
    var timeout: Duration?

    @OptionGroup var configOptions: ConfigOptions

    func validate() throws {
        if journal?.isEmpty == true { throw ValidationError("--journal is empty: it names a directory.") }
        if journalName?.isEmpty == true { throw ValidationError("--journal-name is empty: it names a journal.") }
        guard journal == nil || journalName == nil else {
            throw ValidationError("--journal and --journal-name exclude each other: give one.")
        }
        if let timeout, !(.milliseconds(100)...(.seconds(600))).contains(timeout) {
            throw ValidationError("--timeout must be 100ms to 10m.")
        }
    }

    /// Whether a flag or the environment says which journal.
    var isNamed: Bool {
        let environment = ProcessInfo.processInfo.environment
        let variables = [ConfigVariables.journal, ConfigVariables.name("journal", nil, "path")]
        return journal != nil || variables.contains { environment[$0]?.isEmpty == false }
    }

    /// The whole configuration: that of the installed service, unless another one or a journal is named.
    func load() throws(ToolError) -> HoldfastConfiguration { try configOptions.load(isJournalNamed: isNamed) }

    /// Where the journal's directory is, for commands that need its files, and nothing else of a configuration: no more of it is
    /// looked at.
    ///
    /// - Throws: a `ValidationError` when nothing says it; ``ToolError`` when the configuration is wrong there, or for a journal
    ///   of the fleet, whose files are elsewhere.
    func path() throws -> String {
        if let journal { return journal }
        if let journalName { throw try isElsewhere(journalName) }
        return try path(configOptions.loadJournal(isJournalNamed: isNamed))
    }

    /// - Throws: as ``path()``.
    func path(_ settings: JournalSettings) throws -> String {
        if let journal { return journal }
        if let journalName { throw try isElsewhere(journalName) }
        if let path = settings.path { return path }
        throw ValidationError(
            "Missing the journal: give --journal <dir>, set HOLDFAST_JOURNAL, or have a configuration with journal.path."
        )
    }
}
