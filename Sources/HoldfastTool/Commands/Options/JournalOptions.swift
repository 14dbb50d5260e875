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
            The file with the keys of a sealed journal, or $CREDENTIALS_DIRECTORY/NAME. (default: HOLDFAST_JOURNAL_KEY_FILE, \
            or the configuration's journal.key-file)
            """, valueName: "file"),
        completion: .file())
    var keyFile: String?

    @OptionGroup var configOptions: ConfigOptions

    func validate() throws {
        if keyFile?.isEmpty == true { throw ValidationError("--key-file is empty: it names a file.") }
        let name = ConfigVariables.name("journal", nil, "key-file")
        let variable = ProcessInfo.processInfo.environment[name]
        if keyFile == nil, variable?.isRepairedText == true {
            throw ValidationError("\(name) is not UTF-8, so it would name another file: write it in UTF-8.")
        }
        KeyFileChoice.take(keyFile ?? variable.flatMap { $0.isEmpty ? nil : $0 })
        if journal?.isEmpty == true { throw ValidationError("--journal is empty: it names a directory.") }
    }

    /// Whether a flag or the environment says which journal.
    var isNamed: Bool {
        let environment = ProcessInfo.processInfo.environment
        let variables = [ConfigVariables.journal, ConfigVariables.name("journal", nil, "path")]
        return journal != nil || variables.contains { environment[$0]?.isEmpty == false }
    }

    /// The whole configuration: that of the installed service, unless another one or a journal is named.
    func load() throws(ToolError) -> HoldfastConfiguration {
        var configuration = try configOptions.load(isJournalNamed: isNamed)
        takeKeyFile(&configuration.journal)
        return configuration
    }

    /// Puts the flag over the key file of a configuration, and has this command read the journal with what comes of it. Every
    /// configuration that a command reads goes this way.
    func takeKeyFile(_ settings: inout JournalSettings) {
        if let keyFile { settings.keyFile = keyFile }
        KeyFileChoice.take(settings.keyFile)
    }

    /// The journal's part of the configuration.
    func loadJournal(isJournalNamed: Bool) throws(ToolError) -> JournalSettings {
        do throws(ToolError) {
            var settings = try configOptions.loadJournal(isJournalNamed: isJournalNamed)
            takeKeyFile(&settings)
            return settings
        } catch {
            throw ToolError(error.status, "\(error.message)\n\(Self.wayWithout)")
        }
    }

    private static let wayWithout =
        "without this configuration: name the journal by --journal DIR, without --config, and the keys of a sealed one by "
        + "--key-file FILE"

    /// Where the journal is, for commands that need nothing else of a configuration: no more of it is looked at.
    ///
    /// - Throws: a `ValidationError` when nothing says it; ``ToolError`` when the configuration is wrong there.
    func path() throws -> String {
        if let journal {
            // A configuration that is named beside it says with which keys.
            if configOptions.config != nil { _ = try loadJournal(isJournalNamed: true) }
            return journal
        }
        return try path(loadJournal(isJournalNamed: isNamed))
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
