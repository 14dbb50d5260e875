internal import ArgumentParser

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Make certificates for `serve`.",
        subcommands: [GatewayCertificateCommand.self])
}
