internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLegacyAPNs

struct FeedbackReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a feedback service once, and blacklist the tokens it names.",
        discussion: """
            Reading clears the service's list, so each tuple is on the journal's blacklist, on disk, before more is read, \
            and is printed afterwards. A token that was registered later than its tuple says is sent to again. Of the \
            tokens only a few digits are printed unless --reveal is given; they are personal data.

            Without TLS flags, certificates are those of the route that the journal remembers.

            Exit codes: 0 read to the end · 69 the service cannot be reached, or the connection broke (what came before \
            is kept) · 65 it sent something else · 74 the blacklist cannot be written · 78 configuration.
            """)

    @Option(name: .long, help: ArgumentHelp("feedback+tls://HOST[:PORT]; port 2196.", valueName: "url"))
    var endpoint: String

    @OptionGroup var journalOptions: JournalOptions
    @OptionGroup var tlsOptions: TLSOptions

    @Flag(name: .long, help: "Print tokens whole.")
    var reveal = false

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await read() } }

    private func read() async throws -> ToolStatus {
        let path = try journalOptions.path()
        // Known to be in vain before a journal is made for it.
        if !FileManager.default.fileExists(atPath: path) { _ = try source(remembered: nil) }
        let journal = try LMDBJournal(directory: path, options: LMDBJournal.Options())
        defer { journal.close() }
        let reader = FeedbackReader(
            try source(remembered: try RememberedRoute.read(from: journal, named: path)),
            blacklist: TokenBlacklist(storage: journal.blacklist),
            logger: ConsoleLogHandler.logger(.standard, isVerbose: false))
        do throws(FeedbackError) {
            let count = try await reader.read { tuples in
                Console.standard.print(tuples.map(line).joined(separator: "\n"))
            }
            if !json { Console.standard.note("\(Self.tuples(count)); all of them are on the blacklist of \(path)") }
            return .ok
        } catch {
            throw ToolError(Self.status(of: error), "\(error); \(Self.tuples(error.kept)) before, which are kept")
        }
    }

    private func source(remembered: RememberedRoute?) throws -> LegacyAPNsFeedback {
        let tls = try tlsOptions.settings(remembered: remembered?.tls ?? RememberedRoute.TLS())
        return try FeedbackSettings(endpoint: endpoint, tls: tls).source()
    }

    private func line(_ tuple: FeedbackTuple) -> String {
        let token = tuple.token.map { reveal ? $0.hex : $0.shortened } ?? "(\(tuple.tokenBytes.count) bytes)"
        let since = Timestamp.format(tuple.since)
        return json ? #"{"since":"\#(since)","token":"\#(token)"}"# : "\(since)  \(token)"
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
