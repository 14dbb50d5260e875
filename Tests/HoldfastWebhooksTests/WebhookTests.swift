import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Scratch
import Testing

@testable import HoldfastWebhooks

/// A webhook behind an engine, before a server that we did not write.
@Suite("A webhook", .timeLimit(.minutes(2)))
struct WebhookTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func engine(
        _ journal: InMemoryJournal, history: HistoryPolicy = HistoryPolicy(), _ connector: InMemoryConnector? = nil
    ) throws -> PushEngine {
        var configuration = EngineConfiguration()
        configuration.history = history
        configuration.housekeeping = .milliseconds(100)
        return try PushEngine(
            journal: journal, routes: [Route(connector: connector ?? InMemoryConnector())],
            configuration: configuration,
            logger: Samples.quiet)
    }

    private func webhook(
        _ engine: PushEngine, port: Int, batch: Int = 50, timeout: Duration = .milliseconds(500),
        logger: Logger = Samples.quiet,
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) throws -> Webhook {
        var configuration = try Samples.configuration(to: "http://127.0.0.1:\(port)/told?key=hidden", batch: batch)
        configuration.timeout = timeout
        configuration.retry = RetrySchedule(minimum: .milliseconds(20), maximum: .milliseconds(200))
        change(&configuration)
        // It is told what ends from now on.
        _ = try engine.outcomes(reader: configuration.reader)
        return Webhook(configuration, engine: engine, logger: logger, write: Samples.write)
    }

    /// Runs an engine and a webhook while `body` runs, and ends them as a service does: the engine first.
    private func running(_ engine: PushEngine, _ webhook: Webhook, _ body: () async throws -> Void) async throws {
        let delivery = Task { try await engine.run() }
        let telling = Task { await webhook.run() }
        do {
            try await body()
        } catch {
            delivery.cancel()
            telling.cancel()
            throw error
        }
        delivery.cancel()
        _ = await delivery.result
        webhook.end()
        await telling.value
    }

    private func submit(_ numbers: ClosedRange<Int>, to producer: Producer) async throws {
        let receipts = await producer.submit(try numbers.map { try Samples.notification($0) })
        for receipt in receipts { _ = try receipt.get() }
    }

    @Test(
        "Whatever the receiver does for a while, in the end it has every outcome, in their order, doubles marked",
        arguments: [
            "ok", "500", "429", "redirect", "close", "half", "nonsense", "never", "taken-close", "taken-500", "most-7",
        ])
    func everything(_ mode: String) async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: mode)
        let engine = try engine(InMemoryJournal())
        let webhook = try webhook(engine, port: receiver.port)
        try await running(engine, webhook) {
            try await submit(1...120, to: engine.producer)
            #expect(try await waitUntil { try receiver.requests.count >= (mode == "ok" ? 1 : 3) })
            try receiver.behave("ok")
            try await submit(121...200, to: engine.producer)
            #expect(await waitUntil { webhook.standing.waiting == 0 && engine.status().confirmed == 200 })
        }
        let told = try receiver.stored
        #expect(try receiver.requests.allSatisfy { $0.signed && $0.id == $0.headerID })
        var seen: Set<UInt64> = []
        var newest: UInt64 = 0
        for request in told {
            for outcome in request.outcomes {
                if seen.insert(outcome.cursor).inserted {
                    #expect(outcome.cursor > newest)
                } else {
                    #expect(request.isPossibleDuplicate, "\(outcome.cursor) came twice without a mark")
                }
                newest = max(newest, outcome.cursor)
            }
        }
        #expect(seen == Set(1...200))
        // An answer that says no is no reason to doubt.
        if ["ok", "429", "redirect", "most-7"].contains(mode) { #expect(!told.contains { $0.isPossibleDuplicate }) }
        #expect(engine.outcomeReaders.first { $0.name == "webhook/crm" }?.cursor == OutcomeCursor(200))
    }

    @Test("A receiver that is killed and comes back has every outcome; one process of ours after another goes on")
    func killed() async throws {
        let journal = InMemoryJournal()
        var receiver = try await WebhookReceiver(in: folder)
        let port = receiver.port
        let first = try engine(journal)
        let one = try webhook(first, port: port)
        try await running(first, one) {
            try await submit(1...100, to: first.producer)
            #expect(try await waitUntil { try receiver.stored.count >= 1 })
            receiver.kill()
            try await submit(101...200, to: first.producer)
            #expect(await waitUntil { one.standing.figures.failuresInARow >= 2 })
            let standing = one.standing
            #expect(standing.waiting >= 100 && standing.lag > .zero)
            #expect(standing.trouble?.contains("127.0.0.1:\(port) has taken nothing since") == true)
            #expect(standing.trouble?.contains("hidden") == false)
            let status = try await first.desk.status().ownReaders
            #expect(status.count == 1 && status.first?.name == "webhook/crm" && status.first?.trouble != nil)
        }
        let second = try engine(journal.crashed())
        receiver = try await WebhookReceiver(in: folder, port: port)
        let two = try webhook(second, port: port)
        try await running(second, two) {
            #expect(await waitUntil { two.standing.waiting == 0 && two.standing.figures.delivered > 0 })
            #expect(two.standing.trouble == nil)
        }
        let cursors = try receiver.stored.flatMap { $0.outcomes.map(\.cursor) }
        #expect(Set(cursors).count == 200 && Set(cursors).max() == 200)
        // What the earlier process may have posted is marked.
        let again = try receiver.stored.last { $0.outcomes.contains { $0.cursor == 101 } }
        #expect(again?.isPossibleDuplicate == true)
    }

    @Test("A receiver that never answers holds up nothing") func pace() async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: "never")
        let engine = try engine(InMemoryJournal())
        let webhook = try webhook(engine, port: receiver.port, timeout: .seconds(30))
        try await running(engine, webhook) {
            for round in 0..<10 { try await submit(round * 1000 + 1...round * 1000 + 1000, to: engine.producer) }
            // An outcome is counted a moment before the log has it.
            #expect(await waitUntil { engine.status().confirmed == 10_000 && webhook.standing.waiting == 10_000 })
            #expect(webhook.standing.figures.delivered == 0)
        }
    }

    @Test("It tells what it is asked for: these producers, these ends") func filters() async throws {
        let receiver = try await WebhookReceiver(in: folder)
        let engine = try engine(
            InMemoryJournal(),
            InMemoryConnector { notification in
                (notification.id?.low ?? 0).isMultiple(of: 2)
                    ? SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 5)) : .confirmed
            })
        let webhook = try webhook(engine, port: receiver.port) {
            $0.producers = ["orders"]
            $0.endings = ["rejected"]
        }
        try await running(engine, webhook) {
            try await submit(1...40, to: engine.producer)
            try await submit(41...80, to: try engine.producer(named: "orders"))
            #expect(await waitUntil { webhook.standing.waiting == 0 && engine.outcomeLog.newest == OutcomeCursor(80) })
        }
        let told = try receiver.stored.flatMap(\.outcomes)
        #expect(told.count == 20 && told.allSatisfy { $0.producer == "orders" && $0.outcome == "rejected" })
    }

    @Test("What the history's bounds deleted before it was told is told as a gap") func gap() async throws {
        let receiver = try await WebhookReceiver(in: folder, mode: "503")
        // Some 80 outcomes fit in.
        let engine = try engine(InMemoryJournal(), history: HistoryPolicy(limitBytes: 10_240))
        let webhook = try webhook(engine, port: receiver.port, batch: 10)
        try await running(engine, webhook) {
            try await submit(1...10, to: engine.producer)
            #expect(try await waitUntil { try receiver.requests.count >= 1 })
            try await submit(11...1000, to: engine.producer)
            #expect(await waitUntil { engine.outcomeLog.deleted > OutcomeCursor(900) })
            try receiver.behave("ok")
            #expect(await waitUntil { webhook.standing.waiting == 0 })
        }
        let told = try receiver.stored
        let missed = told.reduce(0) { $0 + $1.missed }
        #expect(missed > 0 && missed == webhook.standing.figures.missed)
        // Each one was told, or counted.
        #expect(Set(told.flatMap { $0.outcomes.map(\.cursor) }).count + missed == 1000)
    }

    @Test("A dead receiver is logged once, and so is its return; never with the URL's path or the secret")
    func log() async throws {
        let lines = Lines()
        let receiver = try await WebhookReceiver(in: folder, mode: "500")
        let engine = try engine(InMemoryJournal())
        let webhook = try webhook(engine, port: receiver.port, logger: lines.logger)
        try await running(engine, webhook) {
            try await submit(1...10, to: engine.producer)
            #expect(try await waitUntil { try receiver.requests.count >= 4 })
            try receiver.behave("ok")
            #expect(await waitUntil { webhook.standing.waiting == 0 })
        }
        let text = lines.all
        #expect(text.count == 2, "\(text)")
        #expect(text.first?.contains("takes no outcomes") == true && text.first?.contains("it answered 500") == true)
        #expect(
            text.last?.contains("takes outcomes again, after") == true
                && text.last?.contains("requests that failed") == true)
        #expect(!text.contains { $0.contains("hidden") || $0.contains("told?") || $0.contains("whsec") })
    }
}

/// What was logged.
private final class Lines: Sendable {
    private struct Handler: LogHandler {
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace
        let lines: Monitor<[String]>

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
    }

    private let lines = Monitor<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { [lines] _ in Handler(lines: lines) } }
}
