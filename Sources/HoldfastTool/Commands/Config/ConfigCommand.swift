internal import ArgumentParser
internal import HoldfastService

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The configuration: check it, and see what holds.",
        discussion: """
            One YAML file, and a variable of the environment for each key; Docs/Reference/Configuration.md describes all of them.
            """,
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self])
}
