/// Runs a script, and keeps the counts of its steps. Shared by all connections of a server.
package final class ScriptRunner: Sendable {
    package let script: MockScript
    private let answers: [Int]
    private let plans: [Int]
    private let start = ContinuousClock.now
    private let state: Locked<State>

    fileprivate struct State: Sendable {
        var requests = 0
        var connections = 0
        var steps: [Progress]
    }

    /// The progress of one step.
    fileprivate struct Progress: Sendable {
        /// Matches of all conditions except the counting ones.
        var seen = 0
        /// Decisions of the step.
        var done = 0
        var connections: Set<Int> = []
        var tokens: Set<String> = []
        var channels: Set<String> = []
        /// Matches skipped in this second.
        var passed = (second: -1, count: 0)
    }

    /// The request or connection that a step is asked about.
    fileprivate struct Subject {
        let count: Int
        let number: Int?
        let connection: Int
        let token: String?
        let channel: String?
        let topic: String?
        let address: MockAddress
        let time: Duration
    }

    package init(_ script: MockScript) {
        self.script = script
        answers = script.steps.indices.filter { if case .answer = script.steps[$0].action { true } else { false } }
        plans = script.steps.indices.filter { if case .connect = script.steps[$0].action { true } else { false } }
        state = Locked(State(steps: Array(repeating: Progress(), count: script.steps.count)))
    }

    package var hasAnswers: Bool { !answers.isEmpty }

    /// The number of decisions of each step, in the order of the steps.
    package var counts: [(name: String, count: Int)] {
        let steps = state.withLock(\.steps)
        return script.steps.indices.map { (script.steps[$0].name ?? "step \($0 + 1)", steps[$0].done) }
    }

    package func answer(to request: MockRequest) -> MockAnswer? {
        let time = ContinuousClock.now - start
        let chosen = state.withLock { state in
            state.requests += 1
            let subject = Subject(
                count: state.requests, number: request.number, connection: request.connection, token: request.token,
                channel: request.channel, topic: request.topic, address: request.address, time: time)
            return choose(among: answers, for: subject, &state)
        }
        guard let chosen, case .answer(let answer) = script.steps[chosen].action else { return nil }
        return answer
    }

    /// - Parameter connection: its number over the server's life.
    package func plan(forConnection connection: Int, to address: MockAddress) -> MockConnectionPlan? {
        guard !plans.isEmpty else { return nil }
        let time = ContinuousClock.now - start
        let chosen = state.withLock { state in
            state.connections += 1
            let subject = Subject(
                count: state.connections, number: nil, connection: connection, token: nil, channel: nil, topic: nil,
                address: address, time: time)
            return choose(among: plans, for: subject, &state)
        }
        guard let chosen, case .connect(let plan) = script.steps[chosen].action else { return nil }
        return plan
    }

    private func choose(among candidates: [Int], for subject: Subject, _ state: inout State) -> Int? {
        candidates.first { index in
            let match = script.steps[index].match
            return match.fits(subject) && state.steps[index].takes(subject, match)
        }
    }
}

extension ScriptRunner.Progress {
    /// Counts one match.
    ///
    /// - Returns: whether the step decides it.
    fileprivate mutating func takes(_ subject: ScriptRunner.Subject, _ match: MockScript.Match) -> Bool {
        if let times = match.times, done >= times { return false }
        switch match.once {
        case .connection?: guard !connections.contains(subject.connection) else { return false }
        case .token?: guard let token = subject.token, !tokens.contains(token) else { return false }
        case .channel?: guard let channel = subject.channel, !channels.contains(channel) else { return false }
        case nil: break
        }
        if let beyond = match.beyond {
            let second = Int(subject.time.components.seconds)
            if second != passed.second { passed = (second, 0) }
            passed.count += 1
            guard passed.count > beyond else { return false }
        }
        seen += 1
        guard seen > match.skip, (seen - match.skip).isMultiple(of: max(1, match.every)) else { return false }
        done += 1
        switch match.once {
        case .connection?: connections.insert(subject.connection)
        case .token?: if let token = subject.token { tokens.insert(token) }
        case .channel?: if let channel = subject.channel { channels.insert(channel) }
        case nil: break
        }
        return true
    }
}

extension MockScript.Match {
    fileprivate func fits(_ subject: ScriptRunner.Subject) -> Bool {
        if let count, !count.contains(subject.count) { return false }
        if let number {
            guard let theirs = subject.number, number.contains(theirs) else { return false }
        }
        if let connections, !connections.contains(subject.connection) { return false }
        if let tokens {
            guard let token = subject.token, tokens.contains(token) else { return false }
        }
        if !exceptTokens.isEmpty, let theirs = subject.token, exceptTokens.contains(theirs) { return false }
        if let channels {
            guard let channel = subject.channel, channels.contains(channel) else { return false }
        }
        if let topics {
            guard let topic = subject.topic, topics.contains(topic) else { return false }
        }
        if let address, !subject.address.isMeant(by: address) { return false }
        if let after, subject.time < after { return false }
        if let until, subject.time >= until { return false }
        return true
    }
}
