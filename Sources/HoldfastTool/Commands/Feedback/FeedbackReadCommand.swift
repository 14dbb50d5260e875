internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLegacyAPNs
internal import HoldfastService
internal import ServiceLifecycle
internal import UnixSignals

struct FeedbackReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a feedback service once, and blacklist the tokens it names.",
        discussion: """
            Reading clears the service's list. So each tuple is on the journal's blacklist, on disk, before the next \
            one is read; then it is printed. A token that was registered after the time of its tuple is sent to again. \
            Tokens are personal data: only a few of their digits are printed, unless --reveal is given.

            With --topic the tokens are blacklisted for this topic only, otherwise for every topic.

            Without flags for TLS, the certificates are those of the route that the journal remembers.

            Example:
              holdfast feedback read --journal push.journal --json \\
                --endpoint feedback+tls://feedback.example.com

            Exit codes: 0 read to the end · 65 the service sent something else · 69 the service can't be reached, or \
            the connection broke (what came before is kept) · 74 the blacklist can't be written · 75 interrupted · 78 \
            configuration.
            """)

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The feedback service: feedback+tls://HOST[:PORT]; port 2196 if none is given.
            """, valueName: "url"))
    var endpoint: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The topic of the app to which the certificate belongs.
            """, valueName: "topic"))
    var topic: String?

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var tlsOptions: TLSOptions

    @Flag(name: .long, help: "Print tokens whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard (1...255).contains(topic?.utf8.count ?? 1) else { throw ValidationError("--topic has 1 to 255 bytes.") }
    }

    func run() async throws { try await reporting { try await read() } }

    private func read() async throws -> ToolStatus {
        let path = try journalOptions.path()
        // Known to be in vain before a journal is made for it.
        if !FileManager.default.fileExists(atPath: path) { _ = try source(remembered: nil) }
        let journal = try await JournalOpening.open(path, LMDBJournal.Options())
        defer { journal.close() }
        let reader = FeedbackReader(
            try source(remembered: try RouteSettings.read(from: journal, named: path)),
            blacklist: TokenBlacklist(storage: journal.blacklist), scope: BlacklistScope(topic: topic),
            logger: ConsoleLogHandler.logger(.standard, isVerbose: false))
        let reading = OneReading(reader: reader) { tuples in
            Console.standard.print(tuples.map(line).joined(separator: "\n"))
        }
        switch try await reading.untilEndOrSignal() {
        case .success(let count):
            if reading.isInterrupted {
                throw ToolError(.entriesLeft, "interrupted; \(Self.tuples(count)) before, which are kept")
            }
            if !json { Console.standard.note(Self.summary(count, unusable: reader.status().unusable, of: path)) }
            return .ok
        case .failure(let error):
            throw ToolError(Self.status(of: error), "\(error); \(Self.tuples(error.kept)) before, which are kept")
        }
    }

    private func source(remembered: RouteSettings?) throws -> LegacyAPNsFeedback {
        var (trust, certificate) = (remembered?.trust, remembered?.certificate)
        try tlsOptions.apply(trust: &trust, certificate: &certificate)
        return try FeedbackSettings(endpoint: endpoint).source(trust: trust, certificate: certificate)
    }

    private func line(_ tuple: FeedbackTuple) -> String {
        let token = tuple.token.map { reveal ? $0.hex : $0.shortened } ?? "(\(tuple.tokenBytes.count) bytes)"
        let since = Timestamp.format(tuple.since)
        return json ? #"{"since":"\#(since)","token":"\#(token)"}"# : "\(since)  \(token)"
    }

    static func summary(_ count: Int, unusable: Int, of path: String) -> String {
        let listed = "on the blacklist of \(path)"
        guard unusable > 0 else { return "\(tuples(count)); all of them are \(listed)" }
        return
            "\(tuples(count)); \(Format.count(count - unusable)) of them \(count - unusable == 1 ? "is" : "are") \(listed), "
            + "and \(Format.count(unusable)) without a token of 1 to 100 bytes \(unusable == 1 ? "is" : "are") not"
    }

    private static func tuples(_ count: Int) -> String { Format.plural(count, "tuple") }

    private static func status(of error: FeedbackError) -> ToolStatus {
        switch error.code {
        case .configuration: .configuration
        case .malformed: .badInput
        case .notStored: .inputOutput
        default: .unavailable
        }
    }
}

/// One reading, which SIGINT and SIGTERM end in order: what was read by then is kept.
private final class OneReading: Service {
    private let reader: FeedbackReader
    private let tell: @Sendable ([FeedbackTuple]) -> Void
    private let result = Monitor<Result<Int, FeedbackError>?>(nil)
    private let interrupted = Monitor(false)

    init(reader: FeedbackReader, tell: @escaping @Sendable ([FeedbackTuple]) -> Void) {
        self.reader = reader
        self.tell = tell
    }

    /// Whether a signal ended it.
    var isInterrupted: Bool { interrupted.withLock { $0 } }

    func untilEndOrSignal() async throws -> Result<Int, FeedbackError> {
        let configuration = ServiceGroupConfiguration(
            services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigint, .sigterm],
            logger: ConsoleLogHandler.logger(.standard, isVerbose: false))
        try await ServiceGroup(configuration: configuration).run()
        guard let result = result.withLock({ $0 }) else { throw ToolError(.internalFault, "nothing was read") }
        return result
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do throws(FeedbackError) {
                let count = try await self.reader.read { tuples in self.tell(tuples) }
                self.result.withLock { $0 = .success(count) }
            } catch {
                self.result.withLock { $0 = .failure(error) }
            }
            if Task.isCancelled { self.interrupted.withLock { $0 = true } }
        }
    }
}
