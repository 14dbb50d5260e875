import Holdfast

/// The outcomes of one trial, each notification's on its own.
final class OutcomeTally: Sendable {
    enum Met: UInt8, Sendable { case nothing, confirmed, rejected, unknown, other }

    struct Contents: Sendable {
        /// How each ended.
        fileprivate(set) var outcomes: [Met]
        /// Notifications with an outcome.
        fileprivate(set) var met = 0
        /// Outcomes beyond the first of a notification.
        fileprivate(set) var twice = 0
        /// Good ones that were refused or expired, bad ones that were not refused.
        fileprivate(set) var wrong: [String] = []
        fileprivate(set) var wrongCount = 0

        func count(_ met: Met) -> Int { outcomes.count { $0 == met } }
    }

    private let contents: Monitor<Contents>

    init(count: Int) { contents = Monitor(Contents(outcomes: [Met](repeating: .nothing, count: count))) }

    func add(_ outcomes: [Outcome]) {
        contents.withLock { contents in
            for outcome in outcomes {
                guard let index = Sample.index(of: outcome.recipient.address), contents.outcomes.indices.contains(index)
                else {
                    continue
                }
                if contents.outcomes[index] == .nothing { contents.met += 1 } else { contents.twice += 1 }
                let met = Met(outcome.terminal)
                contents.outcomes[index] = met
                switch (met, Sample.isBad(index)) {
                case (.confirmed, false), (.rejected, true), (.unknown, _): break
                default:
                    contents.wrongCount += 1
                    if contents.wrong.count < 5 { contents.wrong.append("\(index) is \(outcome.terminal)") }
                }
            }
        }
    }

    func read() -> Contents { contents.withLock { $0 } }

    var met: Int { contents.withLock(\.met) }
}

extension OutcomeTally.Met {
    init(_ terminal: TerminalOutcome) {
        switch terminal {
        case .confirmed: self = .confirmed
        case .rejected: self = .rejected
        case .unknown: self = .unknown
        case .expired, .withdrawn, .superseded: self = .other
        }
    }
}
