internal import Holdfast
internal import HoldfastService

/// Columns and rows to draw in.
struct TopSize: Hashable, Sendable {
    var columns: Int
    var rows: Int
}

/// Everything that the screen of `holdfast top` shows.
struct TopModel: Sendable {
    /// The journal, for people.
    var journal: String
    /// The process that uses it; nil before its first answer.
    var owner: String?
    var history = TopHistory()
    var machine = TopMachine()
    var interval: Duration
    /// Why there is no newer sample; nil while there is.
    var silence: String?
}

/// Draws `holdfast top`. A pure function of the model, the size and the time.
struct TopScreen {
    let model: TopModel
    let size: TopSize
    let signs: TopSigns
    let now: WallTime

    /// At most as many lines as there are rows, none wider than the columns.
    func lines() -> [TopLine] {
        guard size.rows > 1 else { return [heading.cut(to: size.columns, signs)] }
        var body: [TopLine]
        switch model.machine.mode {
        case .help: body = help
        case .found(let found, let first): body = page(found, from: first)
        case .overview, .confirm, .asking, .searching: body = overview(rows: size.rows - 2)
        }
        body = Array(body.prefix(size.rows - 2))
        let blanks = [TopLine](repeating: TopLine(), count: max(size.rows - 2 - body.count, 0))
        return ([heading] + body + blanks + [footer]).map { $0.cut(to: size.columns, signs) }
    }

    /// Whether the selected lane can be told in so much room.
    static func showsLane(in size: TopSize) -> Bool { size.rows > 2 && size.columns >= 20 }

    /// All that there is, for a snapshot that is not drawn over.
    func snapshot() -> [TopLine] {
        let lines = [heading] + overview(rows: size.rows)
        return lines.map { $0.cut(to: size.columns, signs) }
    }

    // MARK: The first and the last line

    private var heading: TopLine {
        let clock = String(Timestamp.format(WallTime(seconds: now.seconds)).dropFirst(11).prefix(8)) + "Z"
        let left = "holdfast top  \(safe(model.journal))"
        let owner = model.owner.map { "  \(safe($0))" } ?? ""
        let wide = TopText.width(left + owner) + clock.count + 2 <= size.columns
        let text = left + (wide ? owner : "")
        let room = size.columns - clock.count - 1
        guard room > 20 else { return TopLine(text, .bold) }
        return TopLine(TopText.cell(text, room, signs) + " " + clock, .bold)
    }

    private var footer: TopLine {
        switch model.machine.mode {
        case .confirm(let order):
            let question = "\(order.kind.rawValue) \(safe("\(order.lane)"))?"
            if TopText.width(question) + 4 <= size.columns { return TopLine("\(question) y/n", .selected) }
            // What is cut off must not be what to press, nor what tells the lane from others.
            let start = "y/n: \(order.kind.rawValue) "
            let lanes = model.machine.lanes
            let room = max(size.columns - start.count - 1, 1)
            let names = TopText.distinct(lanes.map { safe($0.description) }, columns: room, signs)
            let name = zip(lanes, names).first { $0.0 == order.lane }?.1 ?? safe("\(order.lane)")
            return TopLine("\(start)\(name)?", .selected)
        case .asking(let text):
            return TopLine("find (token, apns-id or tag): \(safe(text))_", .selected)
        case .searching(let text): return TopLine("looking for \(safe(text)) ...", .faint)
        case .help: return TopLine("any key: back   q quit", .faint)
        case .found: return TopLine("up/down scroll   / find   any other key: back   q quit", .faint)
        case .overview:
            if let message = model.machine.message {
                return TopLine(safe(message.text), message.isError ? .red : .bold)
            }
            return TopLine("p pause   r resume   t try now   / find   ? help   q quit", .faint)
        }
    }

    // MARK: The overview

    private func overview(rows: Int) -> [TopLine] {
        guard let sample = model.history.newest else {
            return [TopLine(model.silence.map(safe) ?? "waiting for the first answer ...", .faint)]
        }
        guard rows > 0 else { return [] }
        let lanes = TopLanes(status: sample.status, selected: model.machine.selected, screen: self)
        let (routes, reasons, figures) = (self.routes(sample.status), self.reasons(sample), rates + totals(sample))
        // A high terminal has room between the sections.
        let gap = rows >= 30 ? [TopLine()] : []
        let detail = lanes.detail
        let fixed = figures.count + detail.count + 4 * gap.count
        let routeRows = min(routes.count, max(rows / 5, 2))
        let laneRows = min(lanes.count + 1, max(rows - fixed - routeRows - 5, 3))
        let free = max(rows - fixed - routeRows - laneRows, 1)
        let troubles = self.troubles(sample, rows: max(free - min(reasons.count, 3), 1))
        var lines = troubles + gap + figures + gap + routes.prefix(routeRows) + gap + lanes.table(rows: laneRows)
        // Keys act on the selected lane: it is there before all else.
        guard lines.count <= rows else { return smallOverview(sample, lanes, rows: rows) }
        lines += detail
        let left = rows - lines.count - max(gap.count, 0)
        if left >= 2 { lines += gap + reasons.prefix(left) }
        return lines
    }

    /// The selected lane, what is wrong and a few figures, where there is no room for all.
    private func smallOverview(_ sample: TopSample, _ lanes: TopLanes, rows: Int) -> [TopLine] {
        let selected = Array(lanes.table(rows: 2).suffix(1))
        guard rows > 1 else { return selected }
        let troubles = self.troubles(sample, rows: max(rows / 3, 1))
        let room = rows - troubles.count
        let figures = (totals(sample).prefix(1) + rates).prefix(max(room - 3, 0))
        let detail = lanes.detail.prefix(max(room - figures.count - 1, 0))
        let laneRows = room - figures.count - detail.count
        return troubles + figures + (laneRows > 1 ? lanes.table(rows: laneRows) : selected) + detail
    }

    /// What is wrong in no more than so many rows, the worst first.
    private func troubles(_ sample: TopSample, rows: Int) -> [TopLine] {
        let troubles = TopTroubles.list(
            sample.status, silence: model.silence, now: model.silence == nil ? now : sample.wall, safe: safe)
        guard !troubles.isEmpty else { return [TopLine("healthy", .green)] }
        var lines: [TopLine] = []
        for (index, trouble) in troubles.enumerated() {
            let left = rows - lines.count
            let isLast = index == troubles.count - 1
            guard left > 1 || (left == 1 && isLast) || lines.isEmpty else {
                lines.append(TopLine("  and \(troubles.count - index) more", .bold))
                break
            }
            lines += wrapped(trouble, rows: isLast ? left : max(min(left - 1, 3), 1))
        }
        return lines
    }

    /// One line as several, the further ones indented.
    private func wrapped(_ line: TopLine, rows: Int) -> [TopLine] {
        let style = line.parts.first?.style ?? .plain
        let width = max(size.columns - 2, 10)
        let texts = EntryExplanation.wrapped(String(line.text.dropFirst(2)), width: width)
        return texts.prefix(rows).enumerated().map { index, text in
            let isCut = index == rows - 1 && texts.count > rows
            let start = index == 0 ? String(line.text.prefix(2)) : "  "
            return TopLine(
                start
                    + (isCut
                        ? TopText.cut(text, to: width, signs, isMore: true)
                            + (TopText.width(text) < width ? signs.ellipsis : "") : text),
                style)
        }
    }

    private static let rateRows: [(name: String, value: @Sendable (TopRates) -> Double, isBad: Bool)] = [
        ("accepted", { $0.accepted }, false), ("sent", { $0.sent }, false), ("confirmed", { $0.confirmed }, false),
        ("rejected", { $0.rejected }, true),
    ]

    private var rates: [TopLine] {
        let history = model.history.rates
        let bars = min(max(size.columns - 26, 0), TopHistory.limit)
        return Self.rateRows.map { name, value, isBad in
            let newest = history.last.map(value)
            let number = newest.map { Self.rate($0) + "/s" } ?? "-"
            var line = TopLine("\(TopText.cell(name, 10, signs)) \(TopText.cell(number, 12, right: true, signs))  ")
            line.add(
                TopText.sparkline(history.map(value), columns: bars, signs), isBad && (newest ?? 0) > 0 ? .red : .green)
            return line
        }
    }

    private func totals(_ sample: TopSample) -> [TopLine] {
        let lanes = sample.status.lanes
        func sum(_ value: (DeskStatus.Lane) -> Int) -> Int { lanes.reduce(0) { $0 + value($1) } }
        let oldest = lanes.compactMap(\.oldestAcceptedAt).min().map { Format.span(now.since($0)) } ?? "-"
        let inFlight = sample.status.routes.reduce(0) { $0 + $1.inFlight }
        var waiting: [(String, String)] = [
            ("waiting", Format.count(sum(\.unconfirmed))), ("in flight", Format.count(inFlight)), ("oldest", oldest),
            ("deferred", Format.count(sum(\.deferred))),
        ]
        if sum(\.scheduled) > 0 { waiting.append(("scheduled", Format.count(sum(\.scheduled)))) }
        let rates = model.history.rates.last
        let p99 = rates?.answerP99Milliseconds.map { ", 99 % in \(Self.milliseconds($0))" } ?? ""
        let times = [
            ("answers in", rates?.answerMilliseconds.map { "\(Self.milliseconds($0))\(p99) ms" } ?? "-"),
            ("commits", rates?.commitMilliseconds.map { "\(Self.milliseconds($0)) ms" } ?? "-"),
            ("deferred", "\(Self.rate(rates?.deferred ?? 0))/s"), ("refused", "\(Self.rate(rates?.refused ?? 0))/s"),
        ]
        return [Self.pairs(waiting), Self.pairs(times)]
    }

    private static func pairs(_ pairs: [(String, String)]) -> TopLine {
        var line = TopLine()
        for (name, value) in pairs {
            if !line.parts.isEmpty { line.add("   ") }
            line.add("\(name) ")
            line.add(value, .bold)
        }
        return line
    }

    private func routes(_ status: DeskStatus) -> [TopLine] {
        guard !status.routes.isEmpty else { return [] }
        let name = min(max(status.routes.map { TopText.width($0.name) }.max() ?? 5, 5), max(size.columns / 4, 8))
        var lines = [
            TopLine(
                "\(TopText.cell("ROUTE", name, signs))  \(TopText.cell("CONN", 7, signs))  IN FLIGHT  STATE", .faint)
        ]
        let names = TopText.distinct(status.routes.map { safe($0.name) }, columns: name, signs)
        for (route, shown) in zip(status.routes, names) {
            let connections = route.connections.map { "\($0)/\(route.connectionLimit ?? $0)" } ?? "-"
            var line = TopLine(
                "\(TopText.cell(shown, name, signs))  \(TopText.cell(connections, 7, signs))  "
                    + "\(TopText.cell(Format.count(route.inFlight), 9, right: true, signs))  ")
            let words = [route.holding, route.connection].compactMap(\.self).joined(separator: "; ")
            line.add(safe(words), route.isAway ? .red : route.holding != nil ? .yellow : .plain)
            lines.append(line)
        }
        return lines
    }

    private func reasons(_ sample: TopSample) -> [TopLine] {
        let reasons = model.history.reasons
        guard !reasons.isEmpty else { return [] }
        let name = min(max(reasons.map { TopText.width($0.reason) }.max() ?? 8, 8), max(size.columns / 2, 8))
        let heading = "\(TopText.cell("REJECTED", name, signs))  \(TopText.cell("TOTAL", 11, right: true, signs))  LAST"
        return [TopLine(heading, .faint)]
            + reasons.map { reason in
                let last = reason.lastSeen.map { "\(Format.span(sample.at - $0)) ago" } ?? "before"
                return TopLine(
                    "\(TopText.cell(safe(reason.reason), name, signs))  "
                        + "\(TopText.cell(Format.count(reason.total), 11, right: true, signs))  \(last)")
            }
    }

    // MARK: Other pages

    private var help: [TopLine] {
        let keys = [
            ("up, down, k, j", "select a lane; also page up, page down, home and end"),
            ("p", "pause the selected lane: nothing of it is sent until it is resumed; asks first"),
            ("r", "resume it; asks first"),
            ("t", "have its route try at once whatever it waits for: a connection, a stopped lane, a topic set aside"),
            ("/", "find notifications by token, apns-id or tag (TAG* for a beginning)"),
            ("q, Ctrl-C", "quit"), ("Ctrl-Z", "stop, until `fg`"), ("Ctrl-L", "draw the screen anew"),
        ]
        let width = 16
        return [TopLine("keys", .bold)]
            + keys.flatMap { key, meaning in
                let lines = EntryExplanation.wrapped(meaning, width: max(size.columns - width - 2, 10))
                return lines.enumerated().map { index, text in
                    TopLine("  \(TopText.cell(index == 0 ? key : "", width - 2, signs))  \(text)")
                }
            }
            + [TopLine()]
            + EntryExplanation.wrapped(
                "Rates are notifications a second, the bars one interval each. Answers and commits are mean times; 99 of 100 answers came "
                    + "within the second. "
                    + "Waiting is all that is accepted and not answered for; the oldest leaves deferred ones out.",
                width: max(size.columns, 10)
            ).map { TopLine($0) }
    }

    private func page(_ found: TopMachine.Found, from first: Int) -> [TopLine] {
        let lines = found.lines.flatMap { line -> [String] in
            let text = safe(line)
            guard TopText.width(text) > size.columns, !text.hasPrefix(" "), text.contains(". ") else { return [text] }
            return EntryExplanation.wrapped(text, width: size.columns)
        }
        return [TopLine(safe(found.title), .bold)]
            + lines.dropFirst(min(first, max(lines.count - 1, 0))).map { TopLine($0) }
    }

    // MARK: Words

    func safe(_ text: String) -> String { TopText.safe(text, signs) }

    /// `0`, `0.4`, `12`, `1,234`
    static func rate(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        if value > 0, value < 9.95 {
            let tenths = Int((value * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
        return Format.count(Int(min(value, 1e12).rounded()))
    }

    /// At most three digits: `0.42`, `12.3`, `420`.
    static func milliseconds(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        let digits = value < 10 ? 2 : value < 100 ? 1 : 0
        return value.formatted(digits: digits)
    }
}

extension Double {
    /// With so many digits behind the point.
    func formatted(digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let value = Int((Swift.min(Swift.max(self, 0), 1e12) * Double(scale)).rounded())
        guard digits > 0 else { return Format.count(value) }
        let rest = String(value % scale)
        return "\(Format.count(value / scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
    }
}
