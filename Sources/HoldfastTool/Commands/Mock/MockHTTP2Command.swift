internal import ArgumentParser
internal import Holdfast
internal import HoldfastMockAPNs
internal import HoldfastMocking
internal import HoldfastService

struct MockHTTP2Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http2",
        abstract: "Run a mock of APNs over HTTP/2, with Apple's validation and answers.",
        discussion: """
            Prints `listening on HOST:PORT` when it is ready, and runs until SIGINT or SIGTERM. The certificate \
            directory gets ca.pem, for `send --trust`, and AuthKey.p8, for `send --key` (key id MOCKKEYID1, team id \
            MOCKTEAMID).

            It also takes broadcasts. With --management-port, channels can be created, read, deleted and listed: \
            Docs/Guide/Channels.md.

            A script makes it misbehave: delays, bursts of 503, GOAWAY, streams and connections that end or stall, \
            failing TLS. Docs/Guide/MockService.md has every step with an example.

            Example:
              holdfast mock http2 --listen 127.0.0.1:8443 \\
                --certificate-directory mock --reject 00fc13ad=Unregistered
            """)

    @OptionGroup var options: MockOptions

    @Option(
        name: .long, help: ArgumentHelp("Append one line of JSON for each accepted notification.", valueName: "file"),
        completion: .file())
    var ledger: String?

    @Option(name: .long, help: ArgumentHelp("The delay of each answer, in milliseconds.", valueName: "ms"))
    var delay = 0

    @Option(
        name: .long,
        help: ArgumentHelp("Refuse this token with this reason of Apple's; may be repeated.", valueName: "token=reason")
    )
    var reject: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A broadcast channel that exists; may be repeated. (default: every well-formed id exists)
            """,
            valueName: "bundle-id=channel"))
    var channel: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Refuse broadcasts to this channel with this reason of Apple's; may be repeated.",
            valueName: "channel=reason"))
    var rejectChannel: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The port on which channels are managed; 0 picks a free one. (default: none)
            """, valueName: "port"))
    var managementPort: Int?

    @Option(name: .long, help: ArgumentHelp("The most channels of an app.", valueName: "count"))
    var channelLimit = 10_000

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Allow only this topic; may be repeated. (default: every topic)
            """, valueName: "topic"))
    var topic: [String] = []

    @Option(name: .long, help: ArgumentHelp("The most concurrent streams of a connection.", valueName: "count"))
    var streams = 1000

    @Option(
        name: .long, help: ArgumentHelp("A YAML file with the script of faults.", valueName: "file"),
        completion: .file())
    var script: String?

    @Flag(name: .long, help: "At the end, print the counts as one JSON object.")
    var json = false

    @Flag(name: .long, help: "Accept only provider tokens that are signed with its own key.")
    var verifyTokens = false

    @Flag(name: .long, help: "Clients must show client.pem, or another certificate of the same authority.")
    var clientCertificate = false

    func validate() throws {
        guard (0...3_600_000).contains(delay) else {
            throw ValidationError("--delay must be 0 to 3600000 milliseconds.")
        }
        guard (1...100_000).contains(streams) else { throw ValidationError("--streams must be 1 to 100000.") }
        guard (0...65535).contains(managementPort ?? 0) else {
            throw ValidationError("--management-port must be 0 to 65535.")
        }
        guard (0...10_000).contains(channelLimit) else { throw ValidationError("--channel-limit must be 0 to 10000.") }
        _ = try rejections()
        _ = try channels()
        _ = try channelRejections()
    }

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let configuration = try configuration()
        return try await options.serve(
            start: { try await MockAPNsServer.start(configuration) }, address: \.address,
            more: { server in server.managementAddress.map { ["managing channels on \($0)"] } ?? [] },
            stop: { server in
                try await server.stop()
                if json { Console.standard.print(try JSONOutput.line(Counted(server))) }
            })
    }

    private func configuration() throws -> MockAPNsConfiguration {
        var configuration = MockAPNsConfiguration()
        (configuration.host, configuration.port) = try options.address()
        configuration.certificateDirectory = options.certificateDirectory
        configuration.ledgerPath = ledger
        configuration.delay = .milliseconds(delay)
        configuration.rejections = try rejections()
        configuration.channels = try channels()
        configuration.channelRejections = try channelRejections()
        configuration.channelLimit = channelLimit
        configuration.managementPort = managementPort
        configuration.topics = topic.isEmpty ? nil : Set(topic)
        configuration.maxConcurrentStreams = streams
        configuration.providerTokens = verifyTokens ? .verified : .ignored
        configuration.requiresClientCertificate = clientCertificate
        configuration.isCleartext = options.cleartext
        if let script { try MockScriptFile(path: script).apply(to: &configuration) }
        return configuration
    }

    private func rejections() throws -> [String: MockRejection] {
        let pairs = try TokenArgument.parse(reject, flag: "--reject", what: "REASON") { MockRejection($0) }
        return Dictionary(pairs.map { ($0.token.hex, $0.what) }, uniquingKeysWith: { $1 })
    }

    private func channels() throws -> [MockChannel] {
        try channel.map { item in
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, MockChannel.isID(String(parts[1])) else {
                throw ValidationError(
                    "--channel must be BUNDLE-ID=CHANNEL with a channel's base64; got \(item.debugDescription).")
            }
            return MockChannel(bundleID: String(parts[0]), id: String(parts[1]))
        }
    }

    private func channelRejections() throws -> [String: MockRejection] {
        let pairs = try rejectChannel.map { item in
            // The last one: a channel may end with some.
            guard let sign = item.lastIndex(of: "="), MockChannel.isID(String(item[..<sign])),
                item[sign...].count > 1
            else {
                throw ValidationError(
                    "--reject-channel must be CHANNEL=REASON with a channel's base64; got \(item.debugDescription).")
            }
            return (String(item[..<sign]), MockRejection(String(item[item.index(after: sign)...])))
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    /// The names of its properties are those of its JSON.
    private struct Counted: Encodable {
        let accepted: Int
        let connections: Int
        let handshakesFailed: Int
        let ignored: Int
        let managed: Int
        let rejected: [String: Int]
        let requests: Int
        let reset: Int
        let scripted: Int
        /// How often each step of the script has decided something.
        let steps: [Step]
        let unanswered: Int

        struct Step: Encodable {
            let count: Int
            let name: String
        }

        init(_ server: MockAPNsServer) {
            let counters = server.counters
            accepted = counters.accepted
            connections = counters.connections
            handshakesFailed = counters.handshakesFailed
            ignored = counters.ignored
            managed = counters.managed
            rejected = counters.rejected
            requests = counters.requests
            reset = counters.reset
            scripted = counters.scripted
            steps = server.scriptCounts.map { Step(count: $0.count, name: $0.name) }
            unanswered = counters.unanswered
        }
    }
}
