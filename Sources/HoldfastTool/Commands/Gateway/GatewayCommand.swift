internal import ArgumentParser

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "What `serve` needs to begin with.",
        subcommands: [GatewayCertificateCommand.self])
}
