internal import ArgumentParser
internal import Holdfast
internal import HoldfastMockAPNs
internal import HoldfastMocking

struct MockBinaryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "binary",
        abstract: "Run a mock of the binary gateway, which answers errors only.",
        discussion: """
            It is silent about notifications that it takes. For the first one that it refuses, it sends an error \
            response, and closes the connection.

            Prints `listening on HOST:PORT` when it is ready, and runs until SIGINT or SIGTERM; then it sends status \
            10 on each connection. The certificate directory gets ca.pem, which clients must trust, and client.pem \
            with client.key, for --client-certificate.

            The flags for faults change how a refusal is answered, or end connections. Faults happen on every \
            connection, or as often as --faults says.

            Example:
              holdfast mock binary --listen 127.0.0.1:2195 \\
                --certificate-directory mock --error-delay 300 --faults 2
            """)

    @OptionGroup var options: MockOptions
    @OptionGroup(title: "Faults") var faultOptions: MockBinaryFaultOptions

    @Option(
        name: .long, help: ArgumentHelp("Append one line of JSON for each notification taken.", valueName: "file"),
        completion: .file())
    var ledger: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Refuse this token with this status, such as 8; may be repeated.", valueName: "token=status"))
    var reject: [String] = []

    @Option(name: .long, help: ArgumentHelp("The most bytes of a payload.", valueName: "bytes"))
    var payloadLimit = 2048

    @Flag(name: .long, help: "Clients must show client.pem, or another certificate of the same authority.")
    var clientCertificate = false

    @Flag(name: .long, help: "At the end, print the counts as one JSON object.")
    var json = false

    func validate() throws {
        guard (1...65535).contains(payloadLimit) else { throw ValidationError("--payload-limit must be 1 to 65535.") }
        _ = try rejections()
    }

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let configuration = try configuration()
        return try await options.serve(
            start: { try await MockBinaryServer.start(configuration) }, address: \.address,
            stop: { server in
                try await server.stop()
                if json { Console.standard.print(try JSONOutput.line(Counted(server.counters))) }
            })
    }

    private func configuration() throws -> MockBinaryConfiguration {
        var configuration = MockBinaryConfiguration()
        (configuration.host, configuration.port) = try options.address()
        configuration.certificateDirectory = options.certificateDirectory
        configuration.isCleartext = options.cleartext
        configuration.ledgerPath = ledger
        configuration.payloadLimit = payloadLimit
        configuration.rejections = try rejections()
        configuration.requiresClientCertificate = clientCertificate
        configuration.behavior = faultOptions.behavior()
        return configuration
    }

    private func rejections() throws -> [String: MockBinaryStatus] {
        let pairs = try TokenArgument.parse(reject, flag: "--reject", what: "STATUS") { text in
            UInt8(text).flatMap { $0 == 0 || $0 == 10 ? nil : MockBinaryStatus(rawValue: $0) }
        }
        guard pairs.allSatisfy({ $0.token.hex.utf8.count == 64 }) else {
            throw ValidationError("--reject: a token of the binary protocol has 64 hex digits.")
        }
        return Dictionary(pairs.map { ($0.token.hex, $0.what) }, uniquingKeysWith: { $1 })
    }

    /// The names of its properties are those of its JSON.
    private struct Counted: Encodable {
        let connections: Int
        let discardedBytes: Int
        let notifications: Int
        let refused: [String: Int]
        let responses: Int
        let taken: Int

        init(_ counters: MockBinaryCounters) {
            connections = counters.connections
            discardedBytes = counters.discardedBytes
            notifications = counters.notifications
            refused = Dictionary(
                counters.refused.map { ("\($0.key.rawValue)", $0.value) }, uniquingKeysWith: { first, _ in first })
            responses = counters.responses
            taken = counters.taken
        }
    }
}

/// How `holdfast mock binary` departs from its normal ways.
struct MockBinaryFaultOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The delay of an error response, in milliseconds.
            """, valueName: "ms"))
    var errorDelay = 0

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Write an error response in pieces of this many bytes.
            """, valueName: "bytes"))
    var errorPieces: Int?

    @Option(name: .long, help: ArgumentHelp("Send this status instead of the right one.", valueName: "status"))
    var errorStatus: UInt8?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Send this identifier instead of the right one.
            """, valueName: "number"))
    var errorIdentifier: UInt32?

    @Flag(name: .long, help: "Close without an error response.")
    var silentErrors = false

    @Flag(name: .long, help: "Reset the connection instead of closing it; with --silent-errors, without a response.")
    var resetErrors = false

    @Flag(
        name: .long,
        help: """
            Do not answer a barrier (a notification without a token), and keep the connection open.
            """)
    var silentBarriers = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Shut a connection down with status 10 after this many notifications.", valueName: "count")
    )
    var shutdownAfter: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Reset a connection after this many notifications, without an error response.
            """, valueName: "count"))
    var resetAfter: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("Stop reading a connection after this many notifications.", valueName: "count"))
    var stallAfter: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("How often faults happen. (default: on every connection)", valueName: "count"))
    var faults: Int?

    func validate() throws {
        guard (0...3_600_000).contains(errorDelay) else {
            throw ValidationError("--error-delay must be 0 to 3600000 milliseconds.")
        }
        for (name, value) in [
            ("error-pieces", errorPieces), ("shutdown-after", shutdownAfter), ("reset-after", resetAfter),
            ("stall-after", stallAfter), ("faults", faults),
        ] where value.map({ $0 < 1 }) == true {
            throw ValidationError("--\(name) must be 1 or more.")
        }
        guard errorStatus != 0, errorStatus != 10 else {
            throw ValidationError("--error-status: \(errorStatus ?? 0) refuses nothing.")
        }
    }

    /// nil for none.
    func behavior() -> MockBinaryBehavior? {
        var behaviors: [MockBinaryBehavior] = []
        if let shutdownAfter { behaviors.append(.shuttingDown(after: shutdownAfter)) }
        if let resetAfter { behaviors.append(.ending(.reset, after: resetAfter)) }
        if let stallAfter { behaviors.append(.ending(.stall(nil), after: stallAfter)) }
        if silentBarriers { behaviors.append(.barriers(MockBinaryAnswer(isAnswered: false, ending: .discard))) }
        if changesErrors { behaviors.append(.errors(error)) }
        guard var all = behaviors.first else { return nil }
        for behavior in behaviors.dropFirst() { all = all.orElse(behavior) }
        return faults.map(all.atMost) ?? all
    }

    private var changesErrors: Bool {
        errorDelay > 0 || errorPieces != nil || errorStatus != nil || errorIdentifier != nil || silentErrors
            || resetErrors
    }

    private var error: MockBinaryAnswer {
        var answer = MockBinaryAnswer(isAnswered: !silentErrors, delay: .milliseconds(errorDelay))
        if let errorStatus { answer.verdict = .refused(MockBinaryStatus(rawValue: errorStatus)) }
        if let errorIdentifier { answer.identifier = .value(errorIdentifier) }
        answer.pieces = errorPieces.map { MockBinaryAnswer.Pieces(every: $0, pause: .milliseconds(1)) }
        answer.ending = resetErrors ? .reset : nil
        return answer
    }
}
