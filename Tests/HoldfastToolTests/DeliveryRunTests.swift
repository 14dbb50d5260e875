import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Testing

@testable import HoldfastTool

/// Whole deliveries from a file, over a journal and a connector in memory.
@Suite("Taking and delivering a file")
struct DeliveryRunTests {
    @Test("Every good line is delivered once, every bad line is named by its number")
    func deliversFile() async throws {
        let file = try TemporaryFile(
            lines: (1...10_000).map { number in
                switch number {
                case 17: "not json"
                case 4242: line(number, extra: #","apns-expiration":1"#)
                default: line(number)
                }
            })
        let world = try World()
        let outcome = try await world.deliver(file)
        #expect(outcome.summary.lines == 10_000)
        #expect(outcome.summary.accepted == 9998)
        #expect(outcome.summary.malformed == 1)
        #expect(outcome.summary.refused == ["BadExpirationDate": 1])
        #expect(outcome.summary.confirmed == 9998)
        #expect(outcome.summary.left == 0)
        #expect(outcome.summary.inputFinished)
        #expect(outcome.status == .badInput)
        #expect(Set(world.connector.sent.map(\.token)).count == 9998)
        #expect(world.connector.sent.count == 9998)
    }

    @Test(
        "How far a file was taken is durable with its entries: after a crash at any commit, none is skipped and none taken twice"
    )
    func resumesAfterCrash() async throws {
        let file = try TemporaryFile(lines: (1...20_000).map { line($0) })
        // Queue everything, so that all entries stay in the journal and can be counted.
        for commits in [0, 1, 3] {
            let disk = InMemoryJournal()
            let first = try World(journal: disk)
            try await first.take(file, batches: commits)
            let world = try World(journal: disk.crashed())
            let noted = try world.progress(of: file)
            #expect(noted?.lines == (commits == 0 ? nil : commits * NotificationInput.batchCount))
            let outcome = try await world.deliver(file, resume: true)
            #expect(outcome.status == .ok)
            #expect(outcome.summary.accepted == 20_000 - commits * NotificationInput.batchCount)
            #expect(outcome.summary.leftFromBefore == commits * NotificationInput.batchCount)
            #expect(outcome.summary.confirmed == 20_000)
            let tokens = world.connector.sent.map(\.token)
            #expect(tokens.count == 20_000 && Set(tokens).count == 20_000)
            #expect(try world.progress(of: file)?.finished == true)
        }
    }

    @Test("A file that ends exactly with a batch is noted as finished")
    func endsWithBatch() async throws {
        let file = try TemporaryFile(lines: (1...NotificationInput.batchCount).map { line($0) })
        let world = try World()
        #expect(try await world.deliver(file).status == .ok)
        #expect(try world.progress(of: file)?.finished == true)
    }

    @Test("--queue-only journals everything and sends nothing")
    func queuesOnly() async throws {
        let file = try TemporaryFile(lines: (1...100).map { line($0) })
        let world = try World()
        let outcome = try await world.deliver(file, options: .init(isQueueOnly: true, handlesSignals: false))
        #expect(outcome.summary.accepted == 100 && outcome.summary.left == 100 && outcome.summary.inputFinished)
        #expect(outcome.status == .ok)
        #expect(world.connector.sent.isEmpty)
    }

    @Test("A configuration error ends the run at once; what was accepted stays")
    func configurationError() async throws {
        let file = try TemporaryFile(lines: (1...100).map { line($0) })
        let world = try World()
        world.connector.failConnecting(
            Array(repeating: ConnectError(.configuration, "the CA file is not trusted"), count: 1000))
        let outcome = try await world.deliver(file)
        #expect(outcome.status == .configuration)
        #expect(outcome.summary.error == "nothing more can be sent: the CA file is not trusted")
        #expect(outcome.summary.left == 100)
    }

    @Test("A lane that is stopped ends the run when nothing else can move")
    func stoppedLane() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let world = try World()
        world.connector.answer { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        let outcome = try await world.deliver(file)
        #expect(outcome.status == .configuration)
        #expect(outcome.summary.left == 10)
        #expect(outcome.error?.message.contains("InvalidProviderToken") == true)
    }

    @Test("What the service rejects is counted by reason, and the exit code says so")
    func countsRejections() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let world = try World()
        let bad = try DeviceToken(token(3))
        world.connector.answer { $0.token == bad ? SendResult(apnsStatus: 410, reason: "Unregistered") : .confirmed }
        let outcome = try await world.deliver(file)
        #expect(outcome.summary.confirmed == 9)
        #expect(outcome.summary.rejected == ["Unregistered": 1])
        #expect(outcome.status == .notAllConfirmed)
    }

    @Test("An input that cannot be read any more ends the taking; what was accepted is delivered all the same")
    func deliversDespiteError() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let world = try World()
        try await world.take(file, batches: 1)
        // Reading it from its start is an I/O error.
        let outcome = try await world.deliver(path: "/proc/self/mem")
        #expect(outcome.status == .inputOutput)
        #expect(outcome.error?.message.contains("/proc/self/mem") == true)
        #expect(outcome.summary.confirmed == 10 && outcome.summary.left == 0)
    }

    @Test("A journal that refuses to write ends the run, and the summary names the line and the cause")
    func journalFails() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let journal = InMemoryJournal()
        let world = try World(journal: journal)
        journal.failWrites(with: JournalError(.diskFull, "no space left on /var"))
        let outcome = try await world.deliver(file)
        #expect(outcome.status == .inputOutput)
        let error = outcome.summary.error ?? ""
        #expect(error.contains("no space left on /var"), "\(error)")
        #expect(outcome.summary.accepted == 0 && !outcome.summary.inputFinished)
    }

    @Test("A service that stays away is given up when asked to, with everything left in the journal")
    func givesUp() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let world = try World()
        world.connector.failConnecting(Array(repeating: ConnectError(.temporary, "connection refused"), count: 1000))
        let outcome = try await world.deliver(
            file, options: .init(giveUpAfter: .milliseconds(300), handlesSignals: false))
        #expect(outcome.status == .entriesLeft)
        #expect(outcome.summary.left == 10)
        #expect(outcome.error?.message.contains("connection refused") == true)
    }

    @Test(
        "One that is answered by something else for ever is given up when asked to, and it is said what is waited for")
    func givesUpOnOne() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let world = try World()
        let foreign = try DeviceToken(token(3))
        world.connector.answer { $0.token == foreign ? SendResult(apnsStatus: 404) : .confirmed }
        let outcome = try await world.deliver(
            file, options: .init(giveUpAfter: .milliseconds(500), handlesSignals: false))
        #expect(outcome.status == .entriesLeft && outcome.summary.left == 1 && outcome.summary.confirmed == 9)
        let words = outcome.error?.message ?? ""
        #expect(words.hasPrefix("gave up after") && words.contains("1 notification left"), "\(words)")
    }

    @Test(
        "Time in vain counts from when something is put off until something ends; what is held or only slow is not in vain"
    )
    func progress() {
        var watch = ProgressWatch()
        func look(_ settled: Int, _ deferrals: Int, inFlight: Int, isHeld: Bool = false, _ seconds: Int) -> Duration? {
            watch.look(
                .init(settled: settled, deferrals: deferrals, unconfirmed: 1, inFlight: inFlight, isHeld: isHeld),
                at: .seconds(seconds))
        }
        #expect(look(0, 0, inFlight: 1, 0) == nil)
        #expect(look(0, 0, inFlight: 1, 50) == nil)
        #expect(look(0, 0, inFlight: 0, 51) == .zero)
        #expect(look(0, 0, inFlight: 1, 52) == .seconds(1))
        #expect(look(0, 1, inFlight: 1, 53) == .seconds(2))
        #expect(look(0, 1, inFlight: 0, isHeld: true, 54) == nil)
        #expect(look(0, 1, inFlight: 1, 55) == nil)
        #expect(look(0, 2, inFlight: 1, 56) == .zero)
        #expect(look(1, 2, inFlight: 0, 57) == nil)
        #expect(look(1, 2, inFlight: 0, 58) == .zero)
        #expect(watch.look(.init(settled: 1, deferrals: 3), at: .seconds(70)) == nil)
    }

    @Test("An input that waits for room waits in vain until something ends, whoever holds the rest") func room() {
        var watch = ProgressWatch()
        func look(_ settled: Int, waits: Bool = true, _ seconds: Int) -> Duration? {
            watch.look(
                .init(settled: settled, unconfirmed: 5, inFlight: 5, isHeld: true, waitsForRoom: waits),
                at: .seconds(seconds))
        }
        #expect(look(0, 0) == .zero && look(0, 9) == .seconds(9))
        #expect(look(1, 10) == nil && look(1, 11) == .zero)
        #expect(look(1, waits: false, 12) == nil)
    }

    @Test("Room in a full journal is not waited for beyond --give-up-after while the service refuses everything")
    func givesUpOnRoom() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let journal = InMemoryJournal()
        let world = try World(journal: journal)
        world.connector.answer { _ in SendResult(apnsStatus: 503, reason: "ServiceUnavailable") }
        let first = try TemporaryFile(lines: [line(11)])
        try await world.take(first, batches: 1)
        journal.limitEntries(to: 1)
        let outcome = try await world.deliver(
            file, options: .init(giveUpAfter: .seconds(1), handlesSignals: false))
        #expect(outcome.status == .entriesLeft, "\(outcome.error?.message ?? "")")
        let words = outcome.error?.message ?? ""
        #expect(words.hasPrefix("gave up after") && words.contains("and nothing makes room: "), "\(words)")
        #expect(outcome.summary.accepted == 0 && outcome.summary.left == 1)
    }

    @Test("Nor is it while an operator's pause holds what would make room, and that is said")
    func givesUpOnPause() async throws {
        let file = try TemporaryFile(lines: (1...10).map { line($0) })
        let journal = InMemoryJournal()
        let world = try World(journal: journal)
        let first = try TemporaryFile(lines: [line(11)])
        try await world.take(first, batches: 1)
        journal.limitEntries(to: 1)
        let lane = LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce)
        world.connector.answer { _ in SendResult(apnsStatus: 503, reason: "ServiceUnavailable") }
        async let delivery = world.deliver(
            file, options: .init(giveUpAfter: .seconds(1), handlesSignals: false))
        try await world.engine.desk.pause(lane, reason: "incident")
        let outcome = try await delivery
        #expect(outcome.status == .entriesLeft, "\(outcome.error?.message ?? "")")
        let words = outcome.error?.message ?? ""
        #expect(words.hasPrefix("gave up after") && words.contains("is paused by an operator: \(lane)"), "\(words)")
    }

    @Test("A last line that has grown since it was taken is not resumed in its middle")
    func grownLastLine() async throws {
        let file = try TemporaryFile(lines: [line(1)], endsWithNewline: false)
        let world = try World()
        #expect(try await world.deliver(file).status == .ok)
        try file.append(",\n")
        let error = await #expect(throws: ToolError.self) { try await world.deliver(file, resume: true) }
        #expect(error?.message.contains("last line") == true)
    }

    private func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private func line(_ number: Int, extra: String = "") -> String {
        #"{"token":"\#(token(number))","apns-topic":"com.example","payload":{"n":\#(number)}\#(extra)}"#
    }
}

/// A journal, a connector and an engine to deliver a file with.
private struct World {
    let journal: InMemoryJournal
    let connector = InMemoryConnector()
    let engine: PushEngine
    let console = Console(isInteractive: false, usesColor: false)

    init(journal: InMemoryJournal = InMemoryJournal()) throws {
        self.journal = journal
        var configuration = EngineConfiguration()
        configuration.reconnectMinimum = .milliseconds(10)
        configuration.reconnectMaximum = .milliseconds(20)
        engine = try PushEngine(journal: journal, routes: [Route(connector: connector)], configuration: configuration)
    }

    func deliver(
        _ file: TemporaryFile, resume: Bool = false, options: DeliveryRun.Options = .init(handlesSignals: false)
    ) async throws -> DeliveryRun.Outcome {
        try await deliver(path: file.path, resume: resume, options: options)
    }

    func deliver(
        path: String, resume: Bool = false, options: DeliveryRun.Options = .init(handlesSignals: false)
    ) async throws -> DeliveryRun.Outcome {
        let opened = try InputFile(path)
        let place = try InputPlace.find(opened, in: journal, mode: resume ? .resume : .fresh)
        let run = DeliveryRun(
            journal: journal, engine: engine, console: console,
            logger: ConsoleLogHandler.logger(console, isVerbose: false),
            options: options)
        return await run.run(.file(InputTask(opened, place)))
    }

    /// Takes some batches of a file as a sender that is killed then.
    func take(_ file: TemporaryFile, batches: Int) async throws {
        let opened = try InputFile(file.path)
        var input = NotificationInput(opened)
        let feed = Feed(
            engine: engine, console: console, report: Monitor(FeedReport()), whyStuck: { nil })
        for _ in 0..<batches {
            let batch = try await input.next()
            _ = try await feed.take(batch, of: opened)
        }
    }

    func progress(of file: TemporaryFile) throws -> FileProgress? {
        let identity = try #require(try InputFile(file.path).identity)
        return try journal.note(identity.noteName).map { try FileProgress.decode($0, path: file.path) }
    }
}

/// A file that goes away with the test.
private final class TemporaryFile: Sendable {
    let path: String

    init(lines: [String], endsWithNewline: Bool = true) throws {
        path =
            FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString).ndjson").path
        try Data((lines.joined(separator: "\n") + (endsWithNewline ? "\n" : "")).utf8).write(
            to: URL(fileURLWithPath: path))
    }

    func append(_ text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
