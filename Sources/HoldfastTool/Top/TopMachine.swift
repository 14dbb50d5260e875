internal import Holdfast

/// What the keys of `holdfast top` do. A pure machine: keys and answers in, actions out.
struct TopMachine: Sendable {
    /// An order for a lane, which is asked about before it is given.
    struct Order: Hashable, Sendable {
        /// `connect` has the lane's route try at once whatever it waits for.
        enum Kind: String, Sendable { case pause, resume, connect }

        var kind: Kind
        var lane: LaneKey
    }

    /// What was found, as lines to be shown.
    struct Found: Hashable, Sendable {
        var title: String
        var lines: [String]
    }

    enum Mode: Hashable, Sendable {
        case overview
        case help
        case confirm(Order)
        /// The text so far.
        case asking(String)
        case searching(String)
        /// And the first line that is shown.
        case found(Found, first: Int)
    }

    enum Action: Hashable, Sendable {
        case perform(Order)
        case find(String)
        case quit
        /// Give the terminal back, and stop until somebody continues the process.
        case suspend
        /// Draw everything anew: something else has written to the terminal.
        case redraw
    }

    /// A word on the bottom line, until the next key.
    struct Message: Hashable, Sendable {
        var text: String
        var isError = false
    }

    private(set) var mode = Mode.overview
    private(set) var lanes: [LaneKey] = []
    private(set) var selected: LaneKey?
    private(set) var message: Message?
    /// Whether the selected lane is to be seen: no key acts on another.
    var showsLane = true
    /// The most bytes of a text to look for.
    private static let longestText = 256

    // MARK: What happened

    /// The owner has told its lanes.
    mutating func took(_ status: DeskStatus) {
        lanes = status.lanes.map(\.key)
        if selected.map({ !lanes.contains($0) }) ?? true { selected = lanes.first }
    }

    /// An order was performed, or came to nothing.
    mutating func performed(_ order: Order, failure: String?) {
        let words =
            switch order.kind {
            case .pause: "\(order.lane): paused"
            case .resume: "\(order.lane): resumed"
            case .connect: "route \(order.lane.route) tries at once"
            }
        message = failure.map { Message(text: $0, isError: true) } ?? Message(text: words)
    }

    /// A search has ended.
    mutating func found(_ found: Found) {
        guard case .searching = mode else { return }
        mode = .found(found, first: 0)
    }

    // MARK: Keys

    mutating func press(_ key: TopKey) -> [Action] {
        switch key {
        case .control("c"): return [.quit]
        case .control("z"): return [.suspend]
        case .control("l"): return [.redraw]
        default: break
        }
        message = nil
        switch mode {
        case .overview: return overview(key)
        case .help, .searching:
            if key == .text("q") { return [.quit] }
            mode = .overview
        case .confirm(let order):
            mode = .overview
            if key == .text("y") || key == .text("Y") { return [.perform(order)] }
            message = Message(text: "nothing was changed")
        case .asking(let text): return asking(text, key)
        case .found(let found, let first): return reading(found, first, key)
        }
        return []
    }

    private mutating func overview(_ key: TopKey) -> [Action] {
        switch key {
        case .text("q"): return [.quit]
        case .text("?"), .text("h"): mode = .help
        case .text("/"), .text("f"): mode = .asking("")
        case .text("p"): confirm(.pause)
        case .text("r"): confirm(.resume)
        case .text("t"): return shownLane().map { [.perform(Order(kind: .connect, lane: $0))] } ?? []
        case .up, .text("k"): move(by: -1)
        case .down, .text("j"): move(by: 1)
        case .pageUp: move(by: -10)
        case .pageDown: move(by: 10)
        case .home: move(by: -lanes.count)
        case .end: move(by: lanes.count)
        default: break
        }
        return []
    }

    private mutating func confirm(_ kind: Order.Kind) {
        guard let lane = shownLane() else { return }
        mode = .confirm(Order(kind: kind, lane: lane))
    }

    /// The selected lane; nil, with a message why, where there is none to be seen.
    private mutating func shownLane() -> LaneKey? {
        if selected == nil {
            message = Message(text: "the journal has no lanes yet")
        } else if !showsLane {
            message = Message(text: "too small to show a lane", isError: true)
        }
        return showsLane ? selected : nil
    }

    private mutating func move(by count: Int) {
        guard let selected, let index = lanes.firstIndex(of: selected) else { return }
        self.selected = lanes[min(max(index + count, 0), lanes.count - 1)]
    }

    private mutating func asking(_ text: String, _ key: TopKey) -> [Action] {
        switch key {
        case .escape: mode = .overview
        case .backspace: mode = text.isEmpty ? .overview : .asking(String(text.dropLast()))
        case .control("u"): mode = .asking("")
        case .enter:
            let wanted = text.drop { $0 == " " }
            guard !wanted.isEmpty else {
                mode = .overview
                return []
            }
            mode = .searching(String(wanted))
            return [.find(String(wanted))]
        case .text(let character) where text.utf8.count < Self.longestText: mode = .asking(text + String(character))
        default: break
        }
        return []
    }

    private mutating func reading(_ found: Found, _ first: Int, _ key: TopKey) -> [Action] {
        let last = max(found.lines.count - 1, 0)
        func at(_ line: Int) -> Mode { .found(found, first: min(max(line, 0), last)) }
        switch key {
        case .text("q"): return [.quit]
        case .up, .text("k"): mode = at(first - 1)
        case .down, .text("j"): mode = at(first + 1)
        case .pageUp: mode = at(first - 10)
        case .pageDown, .text(" "): mode = at(first + 10)
        case .home: mode = at(0)
        case .text("/"), .text("f"): mode = .asking("")
        default: mode = .overview
        }
        return []
    }
}
