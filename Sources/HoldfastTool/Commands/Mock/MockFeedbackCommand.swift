internal import ArgumentParser
internal import Holdfast
internal import HoldfastMockAPNs
internal import HoldfastMocking

struct MockFeedbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Run a mock of the feedback service, which hands out each tuple once.",
        discussion: """
            Prints `listening on HOST:PORT` when it is ready, and runs until SIGINT or SIGTERM. The first client gets \
            all tuples, each a time and a token; then they are gone. The certificate directory is as for `mock \
            binary`, and both may share one.

            Example:
              holdfast mock feedback --listen 127.0.0.1:2196 \\
                --certificate-directory mock --tuple 00fc13ad=1795300000
            """)

    @OptionGroup var options: MockOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A token in hex digits, and the time since when it is not valid, in Unix seconds; may be repeated.
            """, valueName: "token=time"))
    var tuple: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Reset each connection after this many tuples, and keep the rest for the next.
            """, valueName: "count"))
    var resetAfter: Int?

    @Flag(name: .long, help: "Leave the connection open after the tuples.")
    var hold = false

    @Flag(name: .long, help: "Reset connections as they are accepted.")
    var refuse = false

    @Option(name: .long, help: ArgumentHelp("Write in pieces of this many bytes.", valueName: "bytes"))
    var pieces: Int?

    @Flag(name: .long, help: "Clients must show client.pem, or another certificate of the same authority.")
    var clientCertificate = false

    @Flag(name: .long, help: "At the end, print the counts as one JSON object.")
    var json = false

    func validate() throws {
        guard resetAfter.map({ $0 >= 0 }) != false else { throw ValidationError("--reset-after must be 0 or more.") }
        guard pieces.map({ $0 >= 1 }) != false else { throw ValidationError("--pieces must be 1 or more.") }
        guard resetAfter == nil || !hold else { throw ValidationError("--reset-after and --hold exclude each other.") }
        _ = try tuples()
    }

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let configuration = try configuration()
        return try await options.serve(
            start: { try await MockFeedbackServer.start(configuration) }, address: \.address,
            stop: { server in
                try await server.stop()
                if json { Console.standard.print(try JSONOutput.line(Counted(server))) }
            })
    }

    private func configuration() throws -> MockFeedbackConfiguration {
        var configuration = MockFeedbackConfiguration()
        (configuration.host, configuration.port) = try options.address()
        configuration.certificateDirectory = options.certificateDirectory
        configuration.isCleartext = options.cleartext
        configuration.requiresClientCertificate = clientCertificate
        configuration.tuples = try tuples()
        configuration.behavior = MockFeedbackBehavior(
            refusesConnections: refuse, tupleLimit: resetAfter, pieceByteCount: pieces,
            ending: hold ? .hold(nil) : resetAfter == nil ? .close : .reset)
        return configuration
    }

    private func tuples() throws -> [MockFeedbackTuple] {
        try TokenArgument.parse(tuple, flag: "--tuple", what: "TIME") { UInt32($0) }
            .map { MockFeedbackTuple(time: $0.what, token: $0.token.bytes) }
    }

    /// The names of its properties are those of its JSON.
    private struct Counted: Encodable {
        let connections: Int
        let remaining: Int
        let served: Int

        init(_ server: MockFeedbackServer) {
            (connections, served) = (server.counters.connections, server.counters.served)
            remaining = server.remaining.count
        }
    }
}
