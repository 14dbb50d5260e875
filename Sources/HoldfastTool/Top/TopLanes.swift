internal import Holdfast
internal import HoldfastService

/// The table of lanes.
struct TopLanes {
    let status: DeskStatus
    let selected: LaneKey?
    let screen: TopScreen

    var count: Int { status.lanes.count }

    /// The heading, and lanes around the selected one.
    func table(rows: Int) -> [TopLine] {
        guard count > 0 else { return [TopLine("no lanes yet", .faint)] }
        let room = max(rows - 1, 1)
        let index = status.lanes.firstIndex { $0.key == selected } ?? 0
        let first = max(0, min(index - room / 2, count - room))
        let width = nameWidth
        let names = TopText.distinct(
            status.lanes.map { screen.safe($0.key.description) }, columns: width, screen.signs)
        return [heading(width)]
            + zip(status.lanes, names).dropFirst(first).prefix(room).map {
                line($0, TopText.cell($1, width, screen.signs))
            }
    }

    /// Columns that the names get: the others are narrower, and are left out where there is no room.
    private var nameWidth: Int {
        let longest = status.lanes.map { TopText.width($0.key.description) }.max() ?? 4
        let others = 2 + 9 + 11 + (isWide ? 11 : 0) + 9
        return min(longest, max(screen.size.columns - others, 12))
    }

    private var isWide: Bool { screen.size.columns >= 76 }

    private func heading(_ name: Int) -> TopLine {
        let signs = screen.signs
        var text = "  \(TopText.cell("LANE", name, signs))  \(TopText.cell("STATE", 7, signs))"
        text += "  \(TopText.cell("WAITING", 9, right: true, signs))"
        if isWide { text += "  \(TopText.cell("DEFERRED", 9, right: true, signs))" }
        return TopLine(text + "  " + TopText.cell("OLDEST", 7, right: true, signs), .faint)
    }

    private func line(_ lane: DeskStatus.Lane, _ name: String) -> TopLine {
        let signs = screen.signs
        let isSelected = lane.key == selected
        var line = TopLine(
            "\(isSelected ? signs.pointer : " ") \(name)  ")
        line.add(TopText.cell(lane.word, 7, signs), isSelected ? .plain : lane.style)
        var rest = "  \(TopText.cell(Format.count(lane.unconfirmed), 9, right: true, signs))"
        if isWide { rest += "  \(TopText.cell(Format.count(lane.deferred), 9, right: true, signs))" }
        let age = lane.oldestAcceptedAt.map { Format.span(screen.now.since($0)) } ?? "-"
        line.add(rest + "  " + TopText.cell(age, 7, right: true, signs))
        guard isSelected else { return line }
        return TopLine(line.text, .selected)
    }

    /// Why the selected lane stands still, and what comes next; empty for one that runs.
    var detail: [TopLine] {
        guard let lane = status.lanes.first(where: { $0.key == selected }), let words = lane.words(now: screen.now)
        else { return [] }
        return EntryExplanation.wrapped(screen.safe(words), width: max(screen.size.columns - 2, 10)).prefix(2).map {
            TopLine("  \($0)", lane.style)
        }
    }
}

extension DeskStatus.Lane {
    fileprivate var word: String {
        switch state {
        case .running: isServed ? "running" : "left"
        case .paused: "paused"
        case .stopped: "stopped"
        }
    }

    fileprivate var style: TopStyle {
        switch state {
        case .running: isServed ? .plain : .yellow
        case .paused: .yellow
        case .stopped: .red
        }
    }

    /// The state in a sentence; nil for one that runs. A next try that has come is not told any more.
    func words(now: WallTime) -> String? {
        let next = nextProbeAt.upcoming(at: now)
        let probe = next.map { "; tries one entry at \(Timestamp.format($0))" } ?? ""
        switch state {
        case .running:
            return isServed ? nil : unconfirmed > 0 ? "no route serves it: what waits in it is left alone" : nil
        case .paused(let reason, let since):
            return "paused since \(Timestamp.format(since))\(reason.isEmpty ? "" : ", because: \(reason)")"
        case .stopped(let reason, let since):
            return "stopped since \(Timestamp.format(since)), because: \(reason)\(probe)"
        }
    }
}
