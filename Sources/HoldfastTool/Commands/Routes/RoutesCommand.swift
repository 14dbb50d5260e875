internal import ArgumentParser

struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes", abstract: "Steer the routes of a running service.",
        subcommands: [RoutesConnectCommand.self])
}
