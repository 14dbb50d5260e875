internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// Which journal.
struct JournalOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The journal's directory. (default: the environment variable HOLDFAST_JOURNAL)", valueName: "dir"),
        completion: .directory)
    var journal: String?

    /// - Throws: a `ValidationError` when neither the flag nor the variable is there.
    func path() throws -> String {
        if let journal, !journal.isEmpty { return journal }
        if let variable = ProcessInfo.processInfo.environment["HOLDFAST_JOURNAL"], !variable.isEmpty { return variable }
        throw ValidationError("Missing the journal: give --journal <dir> or set HOLDFAST_JOURNAL.")
    }
}

/// How to deliver.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The most notifications in flight: what a crash can send twice. (default: 2000; on the binary protocol \
            1000000 for each connection)
            """, valueName: "count"))
    var window: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "End with code 75 when the service was away for so long in one piece (30s, 5m, 1h). (default: keep trying)",
            valueName: "duration"),
        transform: DurationArgument.parse)
    var giveUpAfter: Duration?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Bytes of the journal beyond which nothing more is taken until it has drained (64M, 16G).",
            valueName: "size"),
        transform: SizeArgument.parse)
    var journalLimit: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Read this feedback service beside sending, and blacklist its tokens: feedback+tls://HOST[:PORT].",
            valueName: "url"))
    var feedback: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long after one reading the next one comes (30m, 1h). (default: 1h)", valueName: "duration"),
        transform: DurationArgument.parse)
    var feedbackInterval: Duration?

    @Flag(name: .long, help: "Print the summary as one JSON object.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say more on standard error.")
    var verbose = false

    func validate() throws {
        if let window, !(1...1_000_000).contains(window) { throw ValidationError("--window must be 1 to 1000000.") }
        guard feedbackInterval == nil || feedback != nil else {
            throw ValidationError("--feedback-interval needs --feedback.")
        }
        if let feedbackInterval, feedbackInterval < .seconds(1) {
            throw ValidationError("--feedback-interval must be 1s or more.")
        }
    }

    func journalOptions(create: Bool) -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.create = create
        if let journalLimit { options.limit = journalLimit }
        return options
    }

    func engineConfiguration() -> EngineConfiguration {
        var configuration = EngineConfiguration()
        if let window {
            configuration.window = window
            configuration.cumulativeWindow = window
        }
        return configuration
    }
}

/// `500ms`, `30s`, `5m`, `1h`; a bare number is seconds.
enum DurationArgument {
    static func parse(_ text: String) throws -> Duration {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        // A hundred days are more than anybody waits, and no product below overflows.
        guard let number = Int(digits), (0...8_640_000_000).contains(number) else { throw fault(text) }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s", "": return .seconds(number)
        case "m": return .seconds(number * 60)
        case "h": return .seconds(number * 3600)
        default: throw fault(text)
        }
    }

    private static func fault(_ text: String) -> ValidationError {
        ValidationError("\(text.debugDescription) is not a duration such as 500ms, 30s, 5m or 1h.")
    }
}

/// `1048576`, `64K`, `64M`, `16G`: binary multiples.
enum SizeArgument {
    static func parse(_ text: String) throws -> Int {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let shift: Int
        switch text.dropFirst(digits.count).uppercased() {
        case "": shift = 0
        case "K": shift = 10
        case "M": shift = 20
        case "G": shift = 30
        default: throw fault(text)
        }
        guard let number = Int(digits), number > 0, number <= (1 << 44) >> shift else { throw fault(text) }
        return number << shift
    }

    private static func fault(_ text: String) -> ValidationError {
        ValidationError("\(text.debugDescription) is not a size such as 64M or 16G, at most 16384G.")
    }
}

extension AsyncParsableCommand {
    /// Runs the command's work, and turns what went wrong into a line on standard error and an exit code.
    func reporting(_ work: () async throws -> ToolStatus) async throws {
        let status: ToolStatus
        do {
            status = try await work()
        } catch let error as ValidationError {
            throw error
        } catch let error as ExitCode {
            throw error
        } catch {
            let error = ToolError(error, otherwise: .internalFault)
            Console.standard.error(error.message)
            throw error.status.exitCode
        }
        if status != .ok { throw status.exitCode }
    }
}
