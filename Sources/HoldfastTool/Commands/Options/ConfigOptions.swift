internal import ArgumentParser
internal import HoldfastService

/// Which configuration.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration, YAML; see Docs/Reference/Configuration.md. (default: the environment variable HOLDFAST_CONFIG)",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    /// The whole of it, with what the environment says.
    ///
    /// - Throws: ``ToolError`` with status `configuration` and all mistakes at once.
    func load() throws(ToolError) -> HoldfastConfiguration {
        do throws(ConfigError) { return try HoldfastConfiguration.load(file: config) } catch { throw error.toolError }
    }

    /// The journal's part of it; mistakes elsewhere are let be.
    func loadJournal() throws(ToolError) -> JournalSettings {
        do throws(ConfigError) { return try HoldfastConfiguration.loadJournal(file: config) } catch {
            throw error.toolError
        }
    }
}
