internal import ArgumentParser

struct LanesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lanes", abstract: "List, pause and resume the lanes of a journal.",
        subcommands: [LanesListCommand.self, LanesPauseCommand.self, LanesResumeCommand.self, LanesReloadCommand.self])
}
