import HoldfastAPNsAnswers
import Logging
import Testing

@testable import Holdfast

@Suite struct ReportIntervalTests {
    private func busy(_ sent: Int) -> PeriodFigures {
        var figures = PeriodFigures()
        figures.sent = sent
        figures.confirmed = sent
        return figures
    }

    @Test("The first report comes an interval after the first look, and tells of the period alone") func first() {
        var reports = ReportInterval(.seconds(300), isInCharge: true)
        #expect(reports.next == nil)
        #expect(reports.isDue(now: .seconds(10)) == false)
        #expect(reports.next == .seconds(310))
        #expect(reports.isDue(now: .seconds(309)) == false)
        #expect(reports.isDue(now: .seconds(310)) == true)
        #expect(reports.report(busy(100), now: .seconds(310))?.figures == busy(100))
        let second = reports.report(busy(150), now: .seconds(612))
        #expect(second?.figures == busy(50))
        #expect(second?.period == .seconds(302))
        #expect(reports.next == .seconds(912))
    }

    @Test("Of an engine at rest it reports once, and again when something has happened") func rest() {
        var reports = ReportInterval(.seconds(60), isInCharge: true)
        _ = reports.isDue(now: .zero)
        #expect(reports.report(PeriodFigures(), now: .seconds(60))?.figures.isIdle == true)
        #expect(reports.report(PeriodFigures(), now: .seconds(120)) == nil)
        #expect(reports.report(busy(1), now: .seconds(180)) != nil)
        #expect(reports.report(busy(1), now: .seconds(240))?.figures.isIdle == true)
        #expect(reports.report(busy(1), now: .seconds(300)) == nil)
    }

    @Test("What waits is reported on even if nothing moves") func waiting() {
        var reports = ReportInterval(.seconds(60), isInCharge: true)
        _ = reports.isDue(now: .zero)
        var figures = PeriodFigures()
        figures.lanes = [PeriodFigures.Lane(key: lane, depth: 5)]
        for minute in 1..<5 { #expect(reports.report(figures, now: .seconds(60 * minute)) != nil) }
    }

    @Test("Without an interval, or without being in charge, there is none") func never() {
        for var reports in [ReportInterval(nil, isInCharge: true), ReportInterval(.seconds(1), isInCharge: false)] {
            #expect(reports.isDue(now: .zero) == false)
            #expect(reports.isDue(now: .seconds(1_000_000)) == false)
            #expect(reports.next == nil)
        }
    }

    @Test("An interval is a second at least, so that nothing spins") func least() {
        var reports = ReportInterval(.zero, isInCharge: true)
        _ = reports.isDue(now: .zero)
        #expect(reports.next == .seconds(1))
    }

    private let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
}

@Suite struct PeriodReportTests {
    private let immediate = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
    private let considerate = LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce)

    private var figures: PeriodFigures {
        var figures = PeriodFigures()
        figures.connections = 2
        figures.connectionLimit = 4
        figures.inFlight = 40
        figures.lanes = [
            PeriodFigures.Lane(key: immediate, depth: 40, oldestAge: .seconds(2)),
            PeriodFigures.Lane(key: considerate, depth: 1000, oldestAge: .seconds(3600)),
        ]
        (figures.accepted, figures.sent, figures.requeued, figures.confirmed) = (1200, 900, 7, 850)
        figures.possibleDuplicates = 3
        figures.failed = [.unregistered: 8, .badDeviceToken: 2]
        figures.commits = EngineObserver.TimeTotal(count: 10, total: .milliseconds(25))
        figures.answers = EngineObserver.TimeTotal(count: 860, total: .seconds(43))
        return figures
    }

    @Test("One line says how the pool, the queue and the work are") func message() {
        let report = PeriodReport(period: .seconds(300), figures: figures)
        #expect(
            report.message
                == "2 of 4 connections; 1040 wait, the oldest for 60 min in default/considerate/at-least-once, 40 in flight; "
                + "in 5 min: accepted 1200, sent 900, again 7, possible duplicates 3, confirmed 850, "
                + "failed 10 (Unregistered 8, BadDeviceToken 2); a commit took 2.5 ms, an answer 50.0 ms")
    }

    @Test("The same stands in its metadata, as numbers") func metadata() {
        let metadata = PeriodReport(period: .seconds(300), figures: figures).metadata.text
        #expect(metadata["period-s"] == "300")
        #expect(metadata["depth"] == "1040")
        #expect(metadata["failed-by-reason/Unregistered"] == "8")
        #expect(metadata["failed-by-reason/BadDeviceToken"] == "2")
        #expect(metadata["commit-ms"] == "2.5")
        #expect(metadata["lane default/considerate/at-least-once/depth"] == "1000")
        #expect(metadata["lane default/considerate/at-least-once/oldest-s"] == "3600")
    }

    @Test("An engine at rest says so in a few words") func idle() {
        let report = PeriodReport(period: .seconds(60), figures: PeriodFigures())
        #expect(report.message == "idle: nothing waits, and nothing happened in 60 s")
        #expect(report.metadata.text["idle"] == "true")
    }

    @Test("Foreign reasons make the line neither long nor forged") func foreign() {
        var figures = figures
        figures.failed = [:]
        for number in 0..<500 { figures.failed[Reason(rawValue: "Foreign\(number)")] = number + 1 }
        figures.failed[Reason(rawValue: "critical: all\nis lost")] = 1000
        let message = PeriodReport(period: .seconds(60), figures: figures).message
        #expect(message.utf8.count < 500)
        #expect(!message.contains("\n"))
        #expect(message.contains("other"))
    }
}
