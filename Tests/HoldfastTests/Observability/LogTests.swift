import HoldfastTesting
import Logging
import Testing

@testable import Holdfast

@Suite struct LogLimiterTests {
    @Test("One line of a kind goes in an interval, and the next one knows how many were left out") func interval() {
        var limiter = LogLimiter<LogLine>(interval: .seconds(60))
        #expect(limiter.admit(.connectionFailed, now: .seconds(1)) == 0)
        for second in 2..<61 { #expect(limiter.admit(.connectionFailed, now: .seconds(second)) == nil) }
        #expect(limiter.admit(.connectionFailed, now: .seconds(61)) == 59)
        #expect(limiter.admit(.connectionFailed, now: .seconds(62)) == nil)
        #expect(limiter.admit(.connectionFailed, now: .seconds(500)) == 1)
        #expect(limiter.admit(.connectionFailed, now: .seconds(560)) == 0)
    }

    @Test("Kinds do not hold each other back") func kinds() {
        var limiter = LogLimiter<LogLine>(interval: .seconds(60))
        for line in LogLine.allCases {
            let leftOut = limiter.admit(line, now: .zero)
            #expect(leftOut == 0)
        }
        for line in LogLine.allCases { #expect(limiter.admit(line, now: .seconds(59)) == nil) }
    }

    @Test("An interval of zero holds nothing back") func none() {
        var limiter = LogLimiter<LogLine>(interval: .zero)
        for _ in 0..<10 { #expect(limiter.admit(.connectionEnded, now: .seconds(1)) == 0) }
    }
}

@Suite struct EngineLogTests {
    private let clock = ManualClock()
    private let recording = RecordingLog()

    private func log(_ level: Logger.Level = .trace) -> EngineLog {
        EngineLog(recording.logger(level), clock: clock.engineClock, interval: .seconds(60), route: "promo")
    }

    @Test("A line has its level, its name and its route", arguments: LogLine.allCases) func levels(line: LogLine) {
        log()(line, "words", ["count": .count(3)])
        #expect(recording.lines.map(\.level) == [line.level])
        #expect(recording.lines.first?.metadata == ["event": line.rawValue, "route": "promo", "count": "3"])
    }

    @Test("Nothing is built for a line below the logger's level") func lazy() {
        var isBuilt = false
        func words() -> String {
            isBuilt = true
            return "words"
        }
        log(.info)(.handedOut, words())
        #expect(!isBuilt)
        #expect(recording.lines.isEmpty)
    }

    @Test("What is left out is said by the next line of its kind, in words and as a number") func leftOut() {
        let log = log()
        for _ in 0..<1000 { log(.connectionFailed, "refused") }
        clock.advance(by: .seconds(60))
        log(.connectionFailed, "refused")
        #expect(
            recording.lines.map(\.message) == [
                "refused", "refused (and 999 more like this since the last one that was logged)",
            ])
        #expect(recording.lines.last?.metadata["left-out"] == "999")
    }

    @Test("What an operator did, the report and the end of an engine are never left out") func unlimited() {
        let lines: [LogLine] = [
            .withdrawn, .report, .journalLeft, .journalFailed, .engineEnded, .connectorNotice, .connectorWarning,
            .identified,
            .reconfigured, .clockUnproven, .endUnproven,
        ]
        #expect(lines.allSatisfy { !$0.isLimited })
        // At trace each batch is a line, and nothing else is without a bound.
        let unlimited = LogLine.allCases.filter { !$0.isLimited }
        #expect(
            Set(unlimited)
                == Set(lines + [.routeStarted, .routeShuttingDown, .handedOut, .settled, .committed, .cleared]))
    }
}
