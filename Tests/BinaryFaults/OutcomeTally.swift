import Holdfast

/// The outcomes of one trial, each notification's on its own.
final class OutcomeTally: Sendable {
    struct Contents: Sendable {
        /// How many outcomes each notification had.
        fileprivate(set) var outcomes: [UInt8]
        /// Different notifications with an outcome.
        fileprivate(set) var met = 0
        fileprivate(set) var confirmed = 0
        fileprivate(set) var rejected = 0
        /// Good ones that did not end as confirmed, bad ones that did not end as rejected.
        fileprivate(set) var wrong: [String] = []
        fileprivate(set) var wrongCount = 0
    }

    private let contents: Monitor<Contents>

    init(notifications: Int) {
        contents = Monitor(Contents(outcomes: [UInt8](repeating: 0, count: notifications)))
    }

    func add(_ outcomes: [Outcome]) {
        contents.withLock { contents in
            for outcome in outcomes {
                guard let index = Sample.index(of: outcome.recipient.address) else { continue }
                if contents.outcomes[index] == 0 { contents.met += 1 }
                if contents.outcomes[index] < .max { contents.outcomes[index] += 1 }
                switch (outcome.terminal, Sample.isBad(index)) {
                case (.confirmed, false): contents.confirmed += 1
                case (.rejected, true): contents.rejected += 1
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
