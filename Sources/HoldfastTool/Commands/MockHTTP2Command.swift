internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastMockAPNs
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

struct MockHTTP2Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http2",
        abstract: "APNs over HTTP/2: Apple's validation, Apple's answers.",
        discussion: """
            Prints `listening on HOST:PORT` when it is ready, and runs until SIGINT or SIGTERM. The certificate directory \
            gets `ca.pem`, for `send --trust`, and `AuthKey.p8`, for `send --key` (key id MOCKKEYID1, team id MOCKTEAMID).
            """)

    @Option(name: .long, help: ArgumentHelp("Where to listen; port 0 picks a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:0"

    @Option(
        name: .long,
        help: ArgumentHelp("Where its certificates and keys are kept; made where missing.", valueName: "dir"),
        completion: .directory)
    var certificateDirectory: String

    @Option(
        name: .long, help: ArgumentHelp("Append one line of JSON for each accepted notification.", valueName: "file"),
        completion: .file())
    var ledger: String?

    @Option(name: .long, help: ArgumentHelp("How long each answer takes.", valueName: "ms"))
    var delay = 0

    @Option(
        name: .long,
        help: ArgumentHelp("Refuse this token with this reason of Apple's; may be repeated.", valueName: "token=reason")
    )
    var reject: [String] = []

    @Option(name: .long, help: ArgumentHelp("Allow only this topic; may be repeated.", valueName: "topic"))
    var topic: [String] = []

    @Option(name: .long, help: ArgumentHelp("The most concurrent streams.", valueName: "count"))
    var streams = 1000

    @Flag(name: .long, help: "Accept only provider tokens that are signed with its own key.")
    var verifyTokens = false

    @Flag(name: .long, help: "Listen without TLS, for benchmarks.")
    var cleartext = false

    func validate() throws {
        guard (0...3_600_000).contains(delay) else {
            throw ValidationError("--delay must be 0 to 3600000 milliseconds.")
        }
        guard (1...100_000).contains(streams) else { throw ValidationError("--streams must be 1 to 100000.") }
        _ = try address()
        _ = try rejections()
    }

    func run() async throws { try await reporting { try await serve() } }

    private func serve() async throws -> ToolStatus {
        let server: MockAPNsServer
        do {
            server = try await MockAPNsServer.start(try configuration())
        } catch let error as MockAPNsError {
            throw ToolError(.unavailable, error.what)
        } catch {
            throw ToolError(.unavailable, "cannot listen on \(listen): \(error)")
        }
        Console.standard.print("listening on \(server.address)")
        let group = ServiceGroup(
            services: [WaitForShutdown()], gracefulShutdownSignals: [.sigint, .sigterm],
            logger: ConsoleLogHandler.logger(.standard, isVerbose: false))
        try await group.run()
        try await server.stop()
        return .ok
    }

    private func configuration() throws -> MockAPNsConfiguration {
        var configuration = MockAPNsConfiguration()
        (configuration.host, configuration.port) = try address()
        configuration.certificateDirectory = certificateDirectory
        configuration.ledgerPath = ledger
        configuration.delay = .milliseconds(delay)
        configuration.rejections = try rejections()
        configuration.topics = topic.isEmpty ? nil : Set(topic)
        configuration.maxConcurrentStreams = streams
        configuration.providerTokens = verifyTokens ? .verified : .ignored
        configuration.isCleartext = cleartext
        return configuration
    }

    private func address() throws -> (host: String, port: Int) {
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]),
            (0...65535).contains(port), colon > listen.startIndex
        else { throw ValidationError("--listen must be HOST:PORT, such as 127.0.0.1:0.") }
        let host = listen[..<colon]
        return (host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host), port)
    }

    private func rejections() throws -> [String: MockRejection] {
        var rejections: [String: MockRejection] = [:]
        for item in reject {
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let token = try? DeviceToken(parts[0]) else {
                throw ValidationError(
                    "--reject must be TOKEN=REASON with a token of hex digits; got \(item.debugDescription).")
            }
            rejections[token.hex] = MockRejection(String(parts[1]))
        }
        return rejections
    }
}

/// Nothing to do but to wait for the signal.
private struct WaitForShutdown: Service {
    func run() async throws { try await gracefulShutdown() }
}
