internal import ArgumentParser
internal import HoldfastMockFCM
internal import HoldfastMocking

struct MockFCMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm",
        abstract: "Run a mock of Firebase Cloud Messaging, with Google's validation and answers.",
        discussion: """
            Prints `listening on HOST:PORT` and `access tokens from URL` when it is ready, and runs until SIGINT or SIGTERM. \
            The certificate directory gets ca.pem, the authority that clients must trust, and service-account.json, a service \
            account that names the mock's own endpoint of access tokens.

            A script makes it misbehave: delays, bursts of 503, messages that are taken and answered 503, GOAWAY, connections \
            that end or stall. Docs/Guide/MockService.md has every step with an example.

            Example:
              holdfast mock fcm --listen 127.0.0.1:8444 \\
                --certificate-directory mock --quota 600000 --reject gone=UNREGISTERED
            """)

    @OptionGroup var options: MockOptions

    @Option(
        name: .long, help: ArgumentHelp("Append one line of JSON for each accepted message.", valueName: "file"),
        completion: .file())
    var ledger: String?

    @Option(name: .long, help: ArgumentHelp("The delay of each answer, in milliseconds.", valueName: "ms"))
    var delay = 0

    @Option(name: .long, help: ArgumentHelp("The project that messages may be sent for.", valueName: "project"))
    var project = "mock-project"

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The port for access tokens; 0 picks a free one.
            """, valueName: "port"))
    var tokenPort = 0

    @Option(name: .long, help: ArgumentHelp("The seconds that an access token lasts.", valueName: "seconds"))
    var tokenLifetime = 3599

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The most messages in a minute, or in --quota-seconds; beyond it QUOTA_EXCEEDED. (default: no limit)
            """, valueName: "count"))
    var quota: Int?

    @Option(name: .long, help: ArgumentHelp("The seconds that --quota is for.", valueName: "seconds"))
    var quotaSeconds = 60

    @Option(
        name: .long,
        help: ArgumentHelp("Refuse this target with this word of Google's; may be repeated.", valueName: "target=word"))
    var reject: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The key of a message's data that is its id in the ledger.", valueName: "key"))
    var idKey = "holdfast-id"

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The most concurrent streams of a connection; one more ends it with GOAWAY.", valueName: "count"))
    var streams = 100

    @Option(
        name: .long, help: ArgumentHelp("A YAML file with the script of faults.", valueName: "file"),
        completion: .file())
    var script: String?

    @Flag(name: .long, help: "Do not check access tokens.")
    var anyToken = false

    @Flag(
        name: .long,
        help: "Take every request unread, for benchmarks. Without --ledger, --quota, --reject and --script.")
    var unread = false

    @Flag(name: .long, help: "At the end, print the counts as one JSON object.")
    var json = false

    func validate() throws {
        guard (0...3_600_000).contains(delay) else {
            throw ValidationError("--delay must be 0 to 3600000 milliseconds.")
        }
        guard (1...100_000).contains(streams) else { throw ValidationError("--streams must be 1 to 100000.") }
        guard (0...65535).contains(tokenPort) else { throw ValidationError("--token-port must be 0 to 65535.") }
        guard (1...86_400).contains(tokenLifetime) else {
            throw ValidationError("--token-lifetime must be 1 to 86400 seconds.")
        }
        guard !unread || ledger == nil && quota == nil && reject.isEmpty && script == nil else {
            throw ValidationError(
                "--unread takes everything: it goes without --ledger, --quota, --reject and --script.")
        }
        guard quota.map({ $0 >= 1 }) ?? true else { throw ValidationError("--quota must be 1 or more.") }
        guard (1...3600).contains(quotaSeconds) else { throw ValidationError("--quota-seconds must be 1 to 3600.") }
        _ = try rejections()
    }

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let configuration = try configuration()
        return try await options.serve(
            start: { try await MockFCMServer.start(configuration) }, address: \.address,
            more: { server in ["access tokens from \(server.tokenURI)"] },
            stop: { server in
                try await server.stop()
                if json { Console.standard.print(try JSONOutput.line(Counted(server))) }
            })
    }

    private func configuration() throws -> MockFCMConfiguration {
        var configuration = MockFCMConfiguration()
        (configuration.host, configuration.port) = try options.address()
        configuration.tokenPort = tokenPort
        configuration.certificateDirectory = options.certificateDirectory
        configuration.isCleartext = options.cleartext
        configuration.ledgerPath = ledger
        configuration.delay = .milliseconds(delay)
        configuration.project = project
        configuration.tokenLifetime = .seconds(tokenLifetime)
        configuration.quota = quota.map { MockFCMConfiguration.Quota($0, per: .seconds(quotaSeconds)) }
        configuration.rejections = try rejections()
        configuration.idKey = idKey
        configuration.maxConcurrentStreams = streams
        configuration.checksAccessTokens = !anyToken
        configuration.checksRequests = !unread
        if let script { try MockScriptFile(path: script).apply(to: &configuration) }
        return configuration
    }

    private func rejections() throws -> [String: MockRejection] {
        let pairs = try reject.map { item in
            // The last one: a target may have some.
            guard let sign = item.lastIndex(of: "="), sign > item.startIndex, item[sign...].count > 1 else {
                throw ValidationError("--reject must be TARGET=WORD; got \(item.debugDescription).")
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
        let rejected: [String: Int]
        let requests: Int
        let reset: Int
        let scripted: Int
        /// Connections ended for too many streams at a time.
        let streamLimitExceeded: Int
        /// How often each step of the script has decided something.
        let steps: [Step]
        let tokens: Int
        let tokensRefused: Int
        let unanswered: Int
        let validated: Int

        struct Step: Encodable {
            let count: Int
            let name: String
        }

        init(_ server: MockFCMServer) {
            let counters = server.counters
            accepted = counters.accepted
            connections = counters.connections
            handshakesFailed = counters.handshakesFailed
            ignored = counters.ignored
            rejected = counters.rejected
            requests = counters.requests
            reset = counters.reset
            scripted = counters.scripted
            streamLimitExceeded = counters.streamLimitExceeded
            steps = server.scriptCounts.map { Step(count: $0.count, name: $0.name) }
            tokens = counters.tokens
            tokensRefused = counters.tokensRefused
            unanswered = counters.unanswered
            validated = counters.validated
        }
    }
}
