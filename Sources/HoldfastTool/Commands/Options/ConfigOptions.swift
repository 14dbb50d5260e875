internal import ArgumentParser
internal import HoldfastService

/// Which configuration.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The configuration, YAML; see Docs/Reference/Configuration.md. (default: HOLDFAST_CONFIG, or \
            /etc/holdfast/holdfast.yaml if there is one and no journal is named)
            """,
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    /// The whole of it, with what the environment says.
    ///
    /// - Parameters:
    ///   - isJournalNamed: whether the command says which journal it is about. It then is not about the installed service,
    ///     whose configuration is not read.
    ///   - more: finds what else is wrong with a configuration whose values have mistakes.
    /// - Throws: ``ToolError`` with status `configuration` and all mistakes at once.
    func load(
        isJournalNamed: Bool = false, more: (HoldfastConfiguration) -> [ConfigProblem] = { $0.unusable() }
    ) throws(ToolError) -> HoldfastConfiguration {
        do throws(ConfigError) {
            return try HoldfastConfiguration.load(
                file: config, orElse: isJournalNamed ? nil : HoldfastConfiguration.standardFile)
        } catch {
            throw error.adding(more).toolError
        }
    }

    /// The journal's part of it; mistakes elsewhere are let be.
    func loadJournal(isJournalNamed: Bool) throws(ToolError) -> JournalSettings {
        do throws(ConfigError) {
            return try HoldfastConfiguration.loadJournal(
                file: config, orElse: isJournalNamed ? nil : HoldfastConfiguration.standardFile)
        } catch {
            throw error.toolError
        }
    }
}
