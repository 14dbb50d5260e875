internal import ArgumentParser

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "Make certificates and senders' service accounts for `serve`.",
        subcommands: [GatewayCertificateCommand.self, GatewayAccountCommand.self])
}
