internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService
internal import Logging

/// How to deliver.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The most notifications in flight, and so the most that a crash can send twice. (default: 2000; on \
            the binary protocol 1000000 for each connection)
            """, valueName: "count"))
    var window: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            End with code 75 after this time without progress: the service was away, or no notification was \
            settled (30s, 5m, 1h). (default: keep trying)
            """,
            valueName: "duration"),
        transform: DurationArgument.parse)
    var giveUpAfter: Duration?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The size of the journal above which nothing more is taken until it has drained (64M, 16G). (default: \
            16G)
            """,
            valueName: "size"),
        transform: SizeArgument.parse)
    var journalLimit: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Also read this feedback service, and blacklist its tokens: feedback+tls://HOST[:PORT].
            """,
            valueName: "url"))
    var feedback: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The interval between readings of the feedback service (30m, 1h). (default: 1h)
            """, valueName: "duration"),
        transform: DurationArgument.parse)
    var feedbackInterval: Duration?

    @Flag(name: .long, help: "Print the summary as one JSON object.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print more on standard error.")
    var verbose = false

    func validate() throws {
        if let window, !(1...1_000_000).contains(window) { throw ValidationError("--window must be 1 to 1000000.") }
        if let giveUpAfter, giveUpAfter < .milliseconds(1) {
            throw ValidationError("--give-up-after must be 1ms or more.")
        }
        if let journalLimit, journalLimit < 1 << 20 {
            throw ValidationError("--journal-limit must be 1M or more.")
        }
        guard feedbackInterval == nil || feedback != nil else {
            throw ValidationError("--feedback-interval needs --feedback.")
        }
        if let feedbackInterval, feedbackInterval < .seconds(1) {
            throw ValidationError("--feedback-interval must be 1s or more.")
        }
    }

    /// Flags that were given and are for the process that uses the journal.
    var givenForOwner: [String] {
        [
            window.map { _ in "--window" }, journalLimit.map { _ in "--journal-limit" },
            feedback.map { _ in "--feedback" },
        ].compactMap { $0 }
    }

    /// The configuration with these flags over it.
    func over(_ configuration: HoldfastConfiguration) -> HoldfastConfiguration {
        var configuration = configuration
        if let journalLimit { configuration.journal.limit = journalLimit }
        if let window {
            configuration.limits.engine.window = window
            configuration.limits.engine.cumulativeWindow = window
        }
        if let giveUpAfter { configuration.limits.giveUpAfter = giveUpAfter }
        if verbose { configuration.log.level = .info }
        return configuration
    }
}

/// A flag's duration, as ``DurationText`` has it.
enum DurationArgument {
    static func parse(_ text: String) throws -> Duration {
        guard let duration = DurationText.value(text) else {
            throw ValidationError("\(text.debugDescription) is not a duration such as 500ms, 30s, 5m, 1h or 7d.")
        }
        return duration
    }
}

/// A flag's size, as ``SizeText`` has it.
enum SizeArgument {
    static func parse(_ text: String) throws -> Int {
        guard let size = SizeText.value(text) else {
            throw ValidationError("\(text.debugDescription) is not a size such as 64M or 16G, at most 16384G.")
        }
        return size
    }
}

extension ToolStatus {
    var exitCode: ExitCode { ExitCode(rawValue) }
}

extension AsyncParsableCommand {
    /// Runs the command's work, and turns what went wrong into a line on standard error and an exit code.
    func reporting(_ work: () async throws -> ToolStatus) async throws {
        var status: ToolStatus
        do {
            status = try await work()
            if let failure = Console.standard.outputFailure {
                Console.standard.error(failure.message)
                status = max(status, failure.status)
            }
        } catch let error as ValidationError {
            throw error
        } catch let error as ExitCode {
            throw error
        } catch let interruption as Interruption {
            throw ExitCode(interruption.exitCode)
        } catch {
            let error = ToolError(error, otherwise: .internalFault)
            Console.standard.error(error.message)
            throw error.status.exitCode
        }
        if status != .ok { throw status.exitCode }
    }
}
