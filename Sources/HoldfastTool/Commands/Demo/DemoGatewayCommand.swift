internal import ArgumentParser
internal import HoldfastGateway
internal import HoldfastService

struct DemoGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Run a gateway with a push service behind it, to try from another terminal.",
        discussion: """
            Starts a push service, makes a configuration with certificates, and serves it. Prints a line for curl and one \
            for Node, ready to be pasted into another terminal, and the addresses of health and metrics. Shows how each \
            accepted notification ends. Ctrl-C ends it, with a summary.

            The files are in a temporary directory, which is removed at the end; with --keep they stay.

            Examples:
              holdfast demo gateway
              holdfast demo gateway --listen 127.0.0.1:2197 --keep demo

            Exit codes: 0 ended by SIGINT or SIGTERM · 69 the address is taken · others as in `holdfast --help`.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp("Where the gateway listens; port 0 picks a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:0"

    @OptionGroup var options: DemoOptions

    @Flag(name: .long, help: "Print one JSON object a line: the addresses, each outcome, and the summary.")
    var json = false

    func validate() throws {
        let isLoopback: Bool
        do throws(GatewayError) { isLoopback = try ListenAddress(listen).isLoopback } catch {
            throw ValidationError("--listen: \(error.message).")
        }
        guard isLoopback else {
            throw ValidationError("--listen must be an address of this machine alone, such as 127.0.0.1:0.")
        }
    }

    func run() async throws { try await reporting { try await demonstrate() } }

    private func demonstrate() async throws -> ToolStatus {
        let directory = try DemoDirectory(kept: options.keep)
        defer { directory.leave() }
        let summary = try await GatewayDemo(directory: directory, listen: listen, json: json).run()
        guard !json else {
            Console.standard.print(try JSONOutput.line(summary))
            return .ok
        }
        var rows = [
            ("confirmed", Format.count(summary.confirmed), "taken by the push service"),
            ("rejected", Format.count(summary.rejected), "refused by it for good"),
            ("left", Format.count(summary.left), "in the journal"),
        ]
        if summary.other > 0 {
            rows.insert(("other", Format.count(summary.other), "expired, or of unknown fate"), at: 2)
        }
        Console.standard.print("\n" + DeliverySummary.table(rows))
        if directory.isKept { Console.standard.print("The files are in \(directory.path)") }
        Console.standard.print(
            DemoText.next([(DemoText.initialCommand, "a configuration of your own, with certificates and directories")])
        )
        return .ok
    }
}
