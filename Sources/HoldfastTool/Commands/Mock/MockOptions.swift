internal import ArgumentParser
internal import Holdfast
internal import HoldfastMockAPNs
internal import HoldfastMocking
internal import HoldfastTransport
internal import ServiceLifecycle
internal import UnixSignals

/// The flags that all push services of `holdfast mock` have in common.
struct MockOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The address to listen on; port 0 picks a free one.
            """, valueName: "host:port"))
    var listen = "127.0.0.1:0"

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The directory of its certificates and keys; missing ones are made.
            """, valueName: "dir"),
        completion: .directory)
    var certificateDirectory: String

    @Flag(name: .long, help: "Listen without TLS, for tests and benchmarks.")
    var cleartext = false

    @Flag(
        name: .long,
        help: """
            End when standard input ends, for example with the process that started it.
            """)
    var untilInputEnds = false

    func validate() throws { _ = try address() }

    func address() throws -> (host: String, port: Int) {
        guard let colon = listen.lastIndex(of: ":"), let port = Int(listen[listen.index(after: colon)...]),
            (0...65535).contains(port), colon > listen.startIndex
        else { throw ValidationError("--listen must be HOST:PORT, such as 127.0.0.1:0.") }
        let host = listen[..<colon]
        return (host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host), port)
    }

    /// Starts a server, says where it listens, waits for SIGINT, SIGTERM or the end of its input, and stops it.
    ///
    /// - Parameter more: lines to be printed behind the one that says that it is ready, in one piece with it.
    func serve<Server>(
        start: () async throws -> Server, address: (Server) -> String, more: (Server) -> [String] = { _ in [] },
        stop: (Server) async throws -> Void
    ) async throws -> ToolStatus {
        let server: Server
        do {
            server = try await start()
        } catch let error as MockError {
            throw ToolError(.unavailable, error.what)
        } catch {
            throw ToolError(.unavailable, "cannot listen on \(listen): \(FileFailure.text(error))")
        }
        Console.standard.print((["listening on \(address(server))"] + more(server)).joined(separator: "\n"))
        let input = untilInputEnds ? try InputFile("-") : nil
        let wait = ServiceGroupConfiguration.ServiceConfiguration(
            service: WaitForShutdown(input: input), successTerminationBehavior: .gracefullyShutdownGroup)
        let group = ServiceGroup(
            configuration: .init(
                services: [wait], gracefulShutdownSignals: [.sigint, .sigterm],
                logger: ConsoleLogHandler.logger(.standard, isVerbose: false)))
        try await group.run()
        try await stop(server)
        return .ok
    }
}

/// Nothing to do but to wait for the signal, or for the end of what nobody reads.
private struct WaitForShutdown: Service {
    let input: InputFile?

    func run() async throws {
        guard let input else { return try await gracefulShutdown() }
        try await cancelWhenGracefulShutdown {
            while try await !input.source.read(name: input.name).isEmpty {}
        }
    }
}

/// `TOKEN=WHAT`, as several flags have it.
enum TokenArgument {
    static func parse<What>(
        _ items: [String], flag: String, what: String, _ read: (String) -> What?
    ) throws -> [(token: DeviceToken, what: What)] {
        try items.map { item in
            let parts = item.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let token = try? DeviceToken(parts[0]), let value = read(String(parts[1])) else {
                throw ValidationError(
                    "\(flag) must be TOKEN=\(what) with a token of hex digits; got \(item.debugDescription).")
            }
            return (token, value)
        }
    }
}
