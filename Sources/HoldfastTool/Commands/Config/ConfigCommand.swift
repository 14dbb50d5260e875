internal import ArgumentParser
internal import HoldfastService

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the configuration, and show its values.",
        discussion: """
            A configuration is one YAML file, and an environment variable for each key; \
            Docs/Reference/Configuration.md describes all keys.
            """,
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self])
}
