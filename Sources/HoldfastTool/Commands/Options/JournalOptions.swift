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

    @OptionGroup var configOptions: ConfigOptions

    func validate() throws {
        if journal?.isEmpty == true { throw ValidationError("--journal is empty: it names a directory.") }
    }

    /// Whether a flag or the environment says which journal.
    var isNamed: Bool {
        let environment = ProcessInfo.processInfo.environment
        let variables = [ConfigVariables.journal, ConfigVariables.name("journal", nil, "path")]
        return journal != nil || variables.contains { environment[$0]?.isEmpty == false }
    }

    /// The whole configuration: that of the installed service, unless another one or a journal is named.
    func load() throws(ToolError) -> HoldfastConfiguration { try configOptions.load(isJournalNamed: isNamed) }

    /// Where the journal is, for commands that need nothing else of a configuration: no more of it is looked at.
    ///
    /// - Throws: a `ValidationError` when nothing says it; ``ToolError`` when the configuration is wrong there.
    func path() throws -> String {
        if let journal { return journal }
        return try path(configOptions.loadJournal(isJournalNamed: isNamed))
    }

    /// - Throws: a `ValidationError` when neither the flag nor the configuration says it.
    func path(_ settings: JournalSettings) throws -> String {
        if let journal { return journal }
        if let path = settings.path { return path }
        throw ValidationError(
            "Missing the journal: give --journal <dir>, set HOLDFAST_JOURNAL, or have a configuration with journal.path."
        )
    }
}
