internal import ArgumentParser

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show what Holdfast is for, on this machine.",
        discussion: """
            `holdfast demo` is `holdfast demo crash`. Nothing leaves this machine, and no file outside the demo's own \
            directory is read or written.
            """,
        subcommands: [DemoCrashCommand.self, DemoGatewayCommand.self], defaultSubcommand: DemoCrashCommand.self)
}
