internal import ArgumentParser

struct LanesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanes", abstract: "The lanes of a journal: see, pause and resume them.",
        subcommands: [LanesListCommand.self, LanesPauseCommand.self, LanesResumeCommand.self, LanesReloadCommand.self])
}
