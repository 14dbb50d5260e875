import HoldfastAPNsAnswers
import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct ObservingTests {
    private let listener = RecordingListener()
    private let log = RecordingLog()

    private func bench(
        _ journal: InMemoryJournal = InMemoryJournal(), modes: [ConfirmationMode] = [.perNotification],
        change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        try Bench(journal, modes: modes, log: log, listeners: [listener], change: change)
    }

    // MARK: Listeners

    @Test("A listener hears of each turn in one call of each kind, with how many") func turns() throws {
        let bench = try bench()
        var bad = Sample.notification(100)
        bad.topic = ""
        try bench.submit((1..<101).map { Sample.notification($0) } + [bad])
        bench.settle()
        #expect(listener.calls == ["accepted 100", "refused 1 MissingTopic", "opened", "sent 100, 0 again"])
        listener.forget()
        bench.clock.advance(by: .milliseconds(250))
        let sent = bench.connection.sent
        bench.connection.sink(.confirmed(sent.prefix(97).map(\.ticket)))
        bench.connection.answer(98, SendResult(apnsStatus: 410, reason: "Unregistered"))
        bench.connection.answer(99, SendResult(apnsStatus: 503, reason: "ServiceUnavailable"))
        bench.connection.answer(100, SendResult(apnsStatus: 400, reason: "PayloadEmpty"))
        bench.settle()
        #expect(
            Set(listener.calls) == [
                "answered 100 in 25.0 seconds, 0.25 seconds at most", "confirmed 97 by answer",
                "rejected 1 Unregistered", "rejected 1 PayloadEmpty", "deferred 1",
            ])
        #expect(listener.calls.count == 5)
    }

    @Test("A listener hears of commits: what was appended, what was settled") func commits() throws {
        let bench = try bench()
        bench.answer = { _ in .confirmed }
        try bench.submit(1..<11)
        bench.settle()
        let commits = listener.commits
        #expect(commits.reduce(0) { $0 + $1.entries } == 10)
        #expect(commits.reduce(0) { $0 + $1.settlements } == 10)
        #expect(commits.last?.usedBytes == 0)
    }

    @Test("A listener hears of connections that come, fail and end") func connections() throws {
        let bench = try bench()
        bench.accepts = false
        try bench.submit(1..<2)
        bench.settle()
        bench.refuseConnection(ConnectError(.temporary, "refused"))
        bench.settle()
        bench.accepts = true
        bench.advance(by: .seconds(1))
        bench.connection.end(possiblySent: [], cause: "reset")
        bench.settle()
        let calls = listener.calls.filter { !$0.hasPrefix("sent") && !$0.hasPrefix("accepted") }
        #expect(calls == ["failed: refused", "opened", "closed: reset", "requeued 1"])
    }

    @Test("A listener hears of lanes that stop and run again, and of holds") func states() throws {
        let bench = try bench { $0.park = .seconds(60) }
        bench.answer = { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        try bench.submit(1..<2)
        bench.settle()
        let stopped = listener.calls.filter { $0.contains("InvalidProviderToken") }
        #expect(stopped.count == 4)
        bench.connection.state.withLock {
            $0.answer = { _ in SendResult(apnsStatus: 429, reason: "TooManyProviderTokenUpdates") }
        }
        listener.forget()
        bench.core.resume(bench.lane())
        bench.settle()
        #expect(listener.calls.contains("default/immediate/at-least-once: running"))
        #expect(listener.calls.contains("hold: parked by the service"))
        bench.connection.state.withLock { $0.answer = { _ in .confirmed } }
        bench.advance(by: .seconds(61))
        #expect(listener.calls.contains("hold: none"))
    }

    @Test("How full everything is is measured at once, then at the interval, and once more when all is done")
    func levels() throws {
        let bench = try bench {
            $0.measureInterval = .seconds(10)
            // Its commits are news.
            $0.housekeeping = .seconds(7200)
        }
        bench.accepts = false
        bench.clock.stepWall(by: .seconds(5))
        try bench.submit(1..<4)
        bench.advance(by: .seconds(25))
        let waiting = try #require(listener.levels.last)
        #expect(waiting.lanes[0].depth == 3)
        #expect(waiting.lanes[0].oldestAcceptedAt == WallTime(seconds: 1_800_000_005))
        #expect(waiting.lanes[1].oldestAcceptedAt == nil)
        #expect(waiting.connectionLimit == 1)
        #expect((3...4).contains(listener.levels.count))
        #expect(bench.status.lanes[0].oldestAcceptedAt == WallTime(seconds: 1_800_000_005))
        bench.accepts = true
        bench.answer = { _ in .confirmed }
        bench.advance(by: .seconds(11))
        #expect(listener.levels.last?.lanes[0].depth == 0)
        #expect(listener.levels.last?.connections == 1)
        let count = listener.levels.count
        bench.advance(by: .seconds(600))
        #expect(listener.levels.count == count)
        #expect(bench.status.lanes[0].oldestAcceptedAt == nil)
    }

    @Test("Silence's confirmations and what a late error denies are told apart from answers") func cumulative() throws {
        let bench = try bench(modes: [.cumulative(quietPeriod: .seconds(5))]) { $0.lateErrorLimit = 5 }
        try bench.submit(1..<11)
        bench.settle()
        bench.advance(by: .seconds(6))
        #expect(listener.calls.contains("confirmed 10 by quiet"))
        bench.connection.fail(at: 4, .refused(SendResult(.rejected(.notification), reason: .payloadEmpty)))
        bench.settle()
        #expect(listener.calls.contains("recalled 5"))
        #expect(listener.calls.contains("wronglyConfirmed 2"))
        #expect(log.lines(.lateError).map(\.level) == [.error])
    }

    @Test("A listener that takes too long is named in a warning, once in a while") func slow() throws {
        let clock = ManualClock()
        let bench = try Bench(clock: clock, log: log, listeners: [SlowListener(clock: clock)])
        for number in 0..<20 { try bench.submit(number..<number + 1) }
        let warnings = log.lines(.listenerSlow)
        #expect(warnings.map(\.level) == [.warning])
        #expect(warnings.first?.metadata["listener"] == "SlowListener")
        #expect(warnings.first?.metadata["ms"] == "11.0")
    }

    private struct SlowListener: MetricsListener {
        let clock: ManualClock
        func accepted(_ count: Int) { clock.advance(by: .milliseconds(11)) }
    }

    // MARK: Log lines

    @Test("A service that resets every connection fills no disk") func storm() throws {
        let bench = try bench { $0.reconnectInterval = .zero }
        bench.answer = { _ in .confirmed }
        // Each connection brings one answer, so that the next one is made at once.
        for number in 1..<2001 {
            try bench.submit(number..<number + 1)
            bench.settle()
            bench.connection.end(possiblySent: [], cause: "reset by peer")
            bench.settle()
        }
        #expect(bench.connections[0].count == 2000)
        #expect(log.lines.filter { $0.level >= .debug }.count < 20)
        bench.advance(by: .seconds(60))
        try bench.submit(5000..<5001)
        bench.settle()
        bench.connection.end(possiblySent: [], cause: "reset by peer")
        bench.settle()
        #expect(log.lines(.connectionEnded).count == 2)
        #expect(log.lines(.connectionEnded).last?.metadata["left-out"] == "1999")
    }

    @Test("A disk that stays full is not written about four times a second") func fullDisk() throws {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        bench.journal.failWrites(with: JournalError(.diskFull, "full"))
        for number in 1..<11 { bench.connection.answer(number, .confirmed) }
        bench.advance(by: .seconds(180))
        #expect((3...4).contains(log.lines(.settlementFailed).count))
        #expect(log.lines(.settlementFailed).first?.metadata["code"] == "disk full")
    }

    @Test("No token and no payload stands in any line, at any level") func secrets() throws {
        let bench = try bench { $0.reportInterval = .seconds(1) }
        var secret = Sample.notification(0x5EC2E7)
        secret.payload = Array(#"{"aps":{"alert":"a word for nobody else"}}"#.utf8)
        bench.answer = { _ in SendResult(apnsStatus: 410, reason: "Unregistered") }
        try bench.submit([secret])
        bench.advance(by: .seconds(10))
        let text = log.lines.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
        #expect(text.contains("handed-out"))
        #expect(text.contains("failed 1 (Unregistered 1)"))
        #expect(!text.contains("a word for nobody else"))
        #expect(!text.contains(secret.recipient.text.prefix(12)))
    }

    @Test("A batch that goes out is a line at trace with its lane, its connection and its UIDs") func trace() throws {
        let bench = try bench()
        try bench.submit(1..<11)
        bench.settle()
        let line = try #require(log.lines(.handedOut).first)
        #expect(line.level == .trace)
        #expect(line.metadata["lane"] == "default/immediate/at-least-once")
        #expect(line.metadata["uids"] == "1...10")
        #expect(line.metadata["count"] == "10")
        #expect(line.metadata["route"] == "default")
    }

    // MARK: The report

    @Test("One line every five minutes, in words and in figures, and of an engine at rest one alone") func report()
        throws
    {
        let bench = try bench()
        bench.answer = {
            $0.token == Sample.notification(3).token ? SendResult(apnsStatus: 400, reason: "PayloadEmpty") : .confirmed
        }
        try bench.submit(1..<11)
        bench.advance(by: .seconds(301))
        let first = try #require(log.lines(.report).first)
        #expect(first.level == .info)
        #expect(first.message.contains("1 of 1 connections; nothing waits; in 5 min: accepted 10, sent 10"))
        #expect(first.message.contains("confirmed 9, failed 1 (PayloadEmpty 1)"))
        #expect(first.metadata["confirmed"] == "9")
        bench.advance(by: .seconds(1500))
        #expect(log.lines(.report).count == 2)
        #expect(log.lines(.report).last?.metadata["idle"] == "true")
        try bench.submit(20..<21)
        bench.advance(by: .seconds(300))
        #expect(log.lines(.report).last?.metadata["sent"] == "1")
    }

    @Test("One engine reports, however many routes it has") func routes() throws {
        let bench = try bench(modes: [.perNotification, .perNotification])
        bench.answer = { _ in .confirmed }
        var other = Sample.notification(2)
        other.topic = "com.example.route1"
        try bench.submit([Sample.notification(1), other])
        bench.advance(by: .seconds(310))
        #expect(log.lines(.report).count == 1)
        #expect(log.lines(.report).first?.metadata["connections"] == "2")
        #expect(log.lines(.report).first?.metadata["confirmed"] == "2")
    }

    @Test("Without an interval there is no report") func noReport() throws {
        let bench = try bench { $0.reportInterval = nil }
        bench.advance(by: .seconds(3600))
        #expect(log.lines(.report).isEmpty)
    }
}
