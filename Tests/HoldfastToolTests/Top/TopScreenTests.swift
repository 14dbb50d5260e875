import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastService
import Testing

@testable import HoldfastTool

@Suite("The screen of holdfast top")
struct TopScreenTests {
    private static let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    private static func status(confirmed: Int = 0, rejected: Int = 0, lanes: Int = 4, reason: String = "") -> DeskStatus
    {
        var status = DeskStatus(
            lanes: (0..<lanes).map { number in
                DeskStatus.Lane(
                    key: LaneKey(
                        route: number == 0 ? "default" : "route-\(number)-of-many", urgency: .immediate,
                        guarantee: .atLeastOnce),
                    state: number == 1 ? .stopped(reason: "403 \(reason)", since: now) : .running,
                    unconfirmed: 1_234_567 * number, deferred: number, isServed: true,
                    oldestAcceptedAt: WallTime(milliseconds: now.milliseconds - Int64(number) * 90_000))
            },
            routes: [
                DeskStatus.Route(
                    name: "default", endpoint: "https://api.push.apple.com:443",
                    connection: "away: \u{1B}[31m\(reason) 推送服务 is \u{7} not there", isAway: true, inFlight: 12,
                    suspects: 0,
                    holding: nil)
            ])
        var figures = DeskStatus.Figures()
        (figures.submitted, figures.sent, figures.confirmed) = (confirmed, confirmed, confirmed)
        figures.rejected = rejected > 0 ? [.unregistered: rejected] : [:]
        figures.answers = answers(confirmed)
        status.figures = figures
        return status
    }

    /// So many, in 12 ms on average, and each between 10 and 25 ms.
    private static func answers(_ count: Int) -> DeskStatus.Times {
        let buckets = (0...Latencies.bounds.count).map { $0 == 4 ? count : 0 }
        return DeskStatus.Times(count: count, total: .milliseconds(12 * count), buckets: buckets)
    }

    private static func sample(_ second: Int, _ status: DeskStatus) -> TopSample {
        TopSample(at: .seconds(second), wall: now, status: status, answered: .milliseconds(1))
    }

    private static func model(_ status: DeskStatus) -> TopModel {
        var model = TopModel(
            journal: "/var/lib/holdfast/push.journal", owner: "process 4711 (holdfast)", interval: .seconds(1))
        for second in 0..<100 {
            var status = status
            status.figures?.confirmed += second * second
            status.figures?.answers = answers(second)
            model.history.add(sample(second, status))
        }
        model.machine.took(status)
        return model
    }

    @Test("No line is wider than the terminal, nothing reaches it that it would take for an order, whatever the size")
    func widths() {
        let status = Self.status(
            confirmed: 10, rejected: 3, lanes: 30, reason: String(repeating: "é🙂 long ", count: 40))
        var models = [
            Self.model(status), TopModel(journal: "j", interval: .seconds(1)), Self.model(Self.status(lanes: 0)),
        ]
        for keys in ["?", "/ab推c", "p", "j", "r"] {
            var model = models[0]
            for key in keys { _ = model.machine.press(.text(key)) }
            models.append(model)
        }
        var found = models[0]
        for key in "/x" { _ = found.machine.press(.text(key)) }
        _ = found.machine.press(.enter)
        found.machine.found(
            TopMachine.Found(title: "find x", lines: (0..<99).map { "\($0) " + String(repeating: "推送. ", count: 60) }))
        models.append(found)
        for signs in [TopSigns.unicode, .ascii] {
            for (columns, rows) in [(1, 1), (7, 3), (20, 5), (39, 12), (60, 20), (80, 24), (120, 40), (300, 90)] {
                for model in models {
                    let screen = TopScreen(
                        model: model, size: TopSize(columns: columns, rows: rows), signs: signs, now: Self.now)
                    let lines = screen.lines()
                    #expect(lines.count <= rows)
                    for line in lines {
                        #expect(line.width <= columns, "\(columns) × \(rows): \(line.text)")
                        #expect(line.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
                        if signs == .ascii {
                            #expect(line.text.unicodeScalars.allSatisfy { $0.isASCII }, "\(line.text)")
                        }
                    }
                }
            }
        }
    }

    @Test("What to press is to be seen behind a question, however narrow the terminal is", arguments: [10, 40, 80])
    func question(columns: Int) {
        var model = Self.model(Self.status())
        _ = model.machine.press(.text("p"))
        let screen = TopScreen(model: model, size: TopSize(columns: columns, rows: 10), signs: .ascii, now: Self.now)
        #expect(screen.lines().last?.text.contains("y/n") == true)
    }

    @Test(
        "The selected lane is to be seen in every terminal in which keys act on it, and no heading without a row",
        arguments: [(20, 3), (20, 5), (30, 8), (40, 10), (40, 12), (60, 16), (80, 24), (120, 40)])
    func selected(columns: Int, rows: Int) {
        var model = Self.model(Self.status(confirmed: 10, rejected: 3, lanes: 30, reason: "403"))
        let size = TopSize(columns: columns, rows: rows)
        #expect(TopScreen.showsLane(in: size))
        for _ in 0..<30 {
            let lines = TopScreen(model: model, size: size, signs: .unicode, now: Self.now).lines().map(\.text)
            let text = lines.joined(separator: "\n")
            #expect(lines.count { $0.hasPrefix(TopSigns.unicode.pointer) } == 1, "\(text)")
            for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix("ROUTE ") {
                #expect(next.hasPrefix("default"), "\(text)")
            }
            _ = model.machine.press(.down)
        }
    }

    @Test("A question in a narrow terminal keeps what tells the lane from others")
    func narrowQuestion() {
        var model = Self.model(Self.status(lanes: 0))
        var status = Self.status(lanes: 0)
        status.lanes = Guarantee.allCases.map { guarantee in
            DeskStatus.Lane(
                key: LaneKey(route: "customer-notifications-of-production", urgency: .immediate, guarantee: guarantee),
                state: .running, unconfirmed: 1, deferred: 0, isServed: true)
        }
        model.machine.took(status)
        var questions: Set<String> = []
        for _ in status.lanes {
            _ = model.machine.press(.text("p"))
            let screen = TopScreen(
                model: model, size: TopSize(columns: 40, rows: 10), signs: .unicode, now: Self.now)
            questions.insert(screen.lines().last?.text ?? "")
            _ = model.machine.press(.text("n"))
            _ = model.machine.press(.down)
        }
        #expect(questions.count == status.lanes.count, "\(questions)")
        #expect(questions.allSatisfy { $0.hasPrefix("y/n: pause ") }, "\(questions)")
    }

    @Test("Of an owner that is silent, what was wrong does not go on, and is told as what was said before")
    func silence() {
        var status = Self.status()
        status.conditions = [
            HealthCondition(
                .serviceAway, .warning, "route", "default", since: Self.now.advanced(by: .seconds(-10)), affected: 30,
                what: "route default is away", next: "see to it", command: "holdfast routes connect default")
        ]
        var model = Self.model(status)
        func text(after time: Duration) -> String {
            TopScreen(
                model: model, size: TopSize(columns: 200, rows: 40), signs: .ascii, now: Self.now.advanced(by: time)
            ).lines().map(\.text).joined(separator: "\n")
        }
        #expect(text(after: .seconds(30)).contains("route default is away (40 s, 30 concerned). Next: see to it"))
        model.silence = "for 30 s: gone"
        #expect(text(after: .seconds(30)).contains("before that: route default is away (10 s, 30 concerned)"))
        #expect(!text(after: .seconds(30)).contains("Next: see to it"))
    }

    @Test("80 × 24 has what is wrong, rates, what waits, routes, lanes with their state in words, and the keys")
    func content() {
        var model = Self.model(Self.status(confirmed: 10, rejected: 3, reason: "InvalidProviderToken"))
        _ = model.machine.press(.down)
        let screen = TopScreen(model: model, size: TopSize(columns: 80, rows: 24), signs: .unicode, now: Self.now)
        let text = screen.lines().map(\.text).joined(separator: "\n")
        for words in [
            "push.journal", "stopped", "InvalidProviderToken", "accepted", "confirmed", "▄", "█", "waiting",
            "7,407,402",
            "default/immediate/at-least-once", "4 min", "ROUTE", "away", "Unregistered", "before", "p pause",
            "12.0, 99 % in 24.9 ms",
        ] { #expect(text.contains(words), "\(words) in\n\(text)") }
    }

    @Test("Long names stay apart in 80 × 24: what is left out of them is what they share, in the middle")
    func longNames() {
        let routes = ["eu", "us"].map { "customer-notifications-of-production-\($0)" } + ["default"]
        let keys = routes.flatMap { route in
            Urgency.allCases.flatMap { urgency in
                Guarantee.allCases.map { LaneKey(route: route, urgency: urgency, guarantee: $0) }
            }
        }
        var status = Self.status()
        status.lanes = keys.map {
            DeskStatus.Lane(key: $0, state: .running, unconfirmed: 1, deferred: 0, isServed: true)
        }
        status.routes = routes.map {
            DeskStatus.Route(
                name: $0, endpoint: "e", connection: "idle", isAway: false, inFlight: 0, suspects: 0, holding: nil)
        }
        for (signs, columns) in [(TopSigns.unicode, 80), (.ascii, 80), (.unicode, 60)] {
            let screen = TopScreen(
                model: Self.model(status), size: TopSize(columns: columns, rows: 40), signs: signs, now: Self.now)
            let lines = screen.lines().map(\.text)
            let start = lines.firstIndex { $0.hasPrefix("  LANE") } ?? 0
            let names = lines[(start + 1)...].prefix(keys.count).map { $0.dropFirst(2).prefix { $0 != " " } }
            #expect(Set(names).count == keys.count, "\(lines.joined(separator: "\n"))")
            #expect(lines.allSatisfy { TopText.width($0) <= columns })
            let shown = routes.prefix(2).map { "\($0.suffix(2)) " }
            #expect(shown.allSatisfy { route in lines.contains { $0.contains(signs.ellipsis) && $0.contains(route) } })
        }
    }

    @Test("A cut is where texts are the same; short ones, wide signs and no room at all are taken as they are")
    func distinct() {
        func shown(_ texts: [String], _ columns: Int) -> [String] {
            TopText.distinct(texts, columns: columns, .unicode)
        }
        #expect(shown(["abc", "de"], 3) == ["abc", "de"])
        #expect(shown(["abcdefg-one", "abcdefg-two"], 7) == ["abc…one", "abc…two"])
        #expect(shown(["one-abcdefg", "two-abcdefg"], 7) == ["one…efg", "two…efg"])
        #expect(shown(["abcdefgh1ij", "abcdefgh2ij"], 5) == ["a…1ij", "a…2ij"])
        #expect(shown(["推送服务一号", "推送服务二号"], 7) == ["推…一号", "推…二号"])
        #expect(shown(["same-name-twice", "same-name-twice"], 6).count == 2)
        #expect(shown(["abcdef"], 1) == ["…"] && shown(["abcdef"], 0) == [""])
    }

    @Test("Rates are those between two answers, and begin anew with another process")
    func rates() {
        var history = TopHistory()
        history.add(Self.sample(0, Self.status(confirmed: 1000)))
        #expect(history.rates.isEmpty)
        history.add(Self.sample(2, Self.status(confirmed: 1500, rejected: 4)))
        #expect(history.rates.last?.confirmed == 250 && history.rates.last?.rejected == 2)
        #expect(history.rates.last?.answerMilliseconds == 12)
        #expect(abs((history.rates.last?.answerP99Milliseconds ?? 0) - 24.85) < 0.001)
        #expect(history.reasons.first?.recent == 4 && history.reasons.first?.lastSeen == .seconds(2))
        // The service was started again: nothing negative, and nothing made up.
        history.add(Self.sample(3, Self.status(confirmed: 5)))
        #expect(history.rates.count == 1)
        history.add(Self.sample(4, Self.status(confirmed: 25)))
        #expect(history.rates.last?.confirmed == 20)
    }

    @Test("Only lines that have changed are drawn, and all of them at another size")
    func painting() {
        var painter = TopPainter(usesColor: true)
        let size = TopSize(columns: 10, rows: 3)
        let first = painter.paint([TopLine("one"), TopLine("two", .red), TopLine("three")], size)
        #expect(first.contains("\u{1B}[1;1Hone\u{1B}[K") && first.contains("\u{1B}[31mtwo\u{1B}[0m"))
        #expect(painter.paint([TopLine("one"), TopLine("two", .red), TopLine("three")], size).isEmpty)
        #expect(
            painter.paint([TopLine("one"), TopLine("0123456789"), TopLine("three")], size) == "\u{1B}[2;1H0123456789")
        #expect(painter.paint([TopLine("one")], size) == "\u{1B}[2;1H\u{1B}[J")
        #expect(painter.paint([TopLine("one")], TopSize(columns: 11, rows: 3)).contains("\u{1B}[2J"))
        var plain = TopPainter(usesColor: false)
        let text = plain.paint([TopLine("red", .red), TopLine("bold", .bold)], size)
        #expect(!text.contains("\u{1B}[31m") && text.contains("\u{1B}[1mbold"))
    }

    @Test("The signs are those of the locale")
    func signs() {
        #expect(TopSigns(environment: ["LANG": "de_DE.UTF-8"]) == .unicode)
        #expect(TopSigns(environment: ["LANG": "C.utf8"]) == .unicode)
        #expect(TopSigns(environment: ["LANG": "de_DE.UTF-8", "LC_ALL": "C"]) == .ascii)
        #expect(TopSigns(environment: [:]) == .ascii)
        #expect(TopText.width("推送🙂é") == 7)
        #expect(TopText.cut("推送推送", to: 5, .unicode) == "推送…")
    }
}

@Suite("The keys of holdfast top")
struct TopKeyTests {
    @Test("Bytes of a terminal are keys, whatever comes in one read")
    func keys() {
        var reader = TopKeyReader()
        #expect(
            reader.keys(in: "pé\u{1B}[A\u{1B}OB\u{1B}[5~\r\u{7F}\u{3}".utf8) == [
                .text("p"), .text("é"), .up, .down, .pageUp, .enter, .backspace, .control("c"),
            ])
        #expect(reader.keys(in: [0x1B]) == [.escape])
        // A character that comes in two pieces, and bytes that are none.
        #expect(reader.keys(in: [0xE6, 0x8E]).isEmpty)
        #expect(reader.keys(in: [0xA8, 0xFF, 0x80, 0x71]) == [.text("推"), .text("q")])
        #expect(reader.keys(in: "\u{1B}[99~x".utf8) == [.text("x")])
    }

    @Test("A lane is paused only after a y, and the one that is selected")
    func confirms() {
        var machine = TopMachine()
        let lanes = Urgency.allCases.map { LaneKey(route: "r", urgency: $0, guarantee: .atLeastOnce) }
        machine.took(
            DeskStatus(
                lanes: lanes.map {
                    DeskStatus.Lane(key: $0, state: .running, unconfirmed: 0, deferred: 0, isServed: true)
                },
                routes: []))
        #expect(machine.press(.text("p")).isEmpty)
        #expect(machine.press(.text("n")).isEmpty)
        #expect(machine.message?.text == "nothing was changed")
        #expect(machine.press(.down).isEmpty)
        #expect(machine.press(.text("p")).isEmpty)
        let order = TopMachine.Order(kind: .pause, lane: lanes[1])
        #expect(machine.press(.text("y")) == [.perform(order)])
        machine.performed(order, failure: "it may not")
        #expect(machine.message == TopMachine.Message(text: "it may not", isError: true))
        #expect(machine.press(.control("c")) == [.quit])
    }

    @Test("Nothing is asked and nothing is done about a lane that is not to be seen")
    func hidden() {
        var machine = TopMachine()
        let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        machine.took(
            DeskStatus(
                lanes: [DeskStatus.Lane(key: lane, state: .running, unconfirmed: 0, deferred: 0, isServed: true)],
                routes: []))
        machine.showsLane = false
        for key in "prt" {
            #expect(machine.press(.text(key)).isEmpty)
            #expect(machine.mode == .overview && machine.message?.isError == true, "\(key)")
        }
        machine.showsLane = true
        #expect(machine.press(.text("t")) == [.perform(TopMachine.Order(kind: .connect, lane: lane))])
    }

    @Test("A text to find is typed, changed, given up, and what is found is read")
    func finds() {
        var machine = TopMachine()
        for key in "/abq" { #expect(machine.press(.text(key)).isEmpty) }
        #expect(machine.press(.backspace).isEmpty)
        #expect(machine.press(.enter) == [.find("ab")])
        machine.found(TopMachine.Found(title: "ab", lines: ["1", "2", "3"]))
        #expect(machine.press(.end).isEmpty)
        #expect(machine.mode == .overview)
        for key in "/c" { _ = machine.press(.text(key)) }
        #expect(machine.press(.escape).isEmpty)
        machine.found(TopMachine.Found(title: "late", lines: []))
        #expect(machine.mode == .overview, "an answer that nobody waits for any more")
        #expect(machine.press(.text("q")) == [.quit])
    }

    @Test("What is typed is an apns-id, a token or a tag")
    func questions() {
        #expect(TopFinding.question("6f2f7b0e-6d1c-4d3b-9c38-6a2c2a0b2f0e").query.id != nil)
        #expect(TopFinding.question(String(repeating: "ab", count: 32)).query.recipient != nil)
        #expect(TopFinding.question("00fc13ad…").token != nil || TopFinding.question("00fc13ad").token != nil)
        #expect(TopFinding.question("spring-sale*").tag != nil)
        #expect(TopFinding.question("uid:12").query.uid == UID(12))
    }
}
