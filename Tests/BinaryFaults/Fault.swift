import Holdfast
import HoldfastMockAPNs
import HoldfastMocking

/// One way in which the service misbehaves, and what may come of it.
struct Fault: Sendable {
    /// For `--only` and the table.
    let name: String
    /// What happens, for the table.
    let what: String
    /// Whether it makes sense where silence counts for nothing, and where it counts.
    var withBarrier = true
    var withQuiet = true
    /// Whether the service's word, or the lack of it, leaves open what was taken: then what it leaves open is sent again.
    var leavesOpen = false
    /// Whether silence is bound to be wrong here, which is the price of counting it.
    var foolsSilence = false
    /// Whether the windows are never half full, so that silence is all there is.
    var hasWideWindow = false
    /// How many notifications are to be confirmed before the others are submitted.
    var prelude = 0
    /// What the service's kernel keeps of what was not read yet; nil for as much as it likes.
    var receiveBuffer: Int?
    /// Whether several connections are bound to be used at a time, where there may be several.
    var isSideBySide: Bool { receiveBuffer != nil }
    let behavior: @Sendable (FaultLog, Setting) -> MockBinaryBehavior?

    /// What a fault may depend on.
    struct Setting: Sendable {
        let quietPeriod: Duration

        /// Inside a connection's life, and so far from bad tokens, which are a thousand apart and end it, that it is reached.
        let depth = 400

        /// Longer than the quiet period: too late for silence.
        var lateness: Duration { quietPeriod * 3 / 2 }
    }
}

/// How often a fault has happened in one trial, and to what.
final class FaultLog: Sendable {
    private struct State: Sendable {
        var count = 0
        var tokens: Set<[UInt8]> = []
        /// Connections on which the first notification was taken before the prelude was over.
        var early: Set<Int> = []
        /// Those on which a fault of connections has happened.
        var faulty: Set<Int> = []
        var isPreludeOver = false
    }

    private let state = Monitor(State())

    var count: Int { state.withLock(\.count) }

    /// Each bad token goes wrong the first time it is sent, and never again, so that every trial ends.
    func answerFirst(_ one: MockBinaryNotification, _ answer: MockBinaryAnswer) -> MockBinaryAnswer? {
        guard one.fault != nil, !one.isBarrier else { return nil }
        return state.withLock { state in
            guard state.tokens.insert(one.token).inserted else { return nil }
            state.count += 1
            return answer
        }
    }

    /// - Returns: false when it happened `limit` times before.
    func happens(atMost limit: Int) -> Bool {
        state.withLock { state in
            guard state.count < limit else { return false }
            state.count += 1
            return true
        }
    }

    /// Deep in the life of a connection, at a notification that is in order; once for each connection.
    func answerDeep(
        _ one: MockBinaryNotification, _ setting: Fault.Setting, atMost limit: Int, _ answer: MockBinaryAnswer
    ) -> MockBinaryAnswer? {
        guard one.number >= setting.depth, one.fault == nil else { return nil }
        return state.withLock { state in
            guard state.count < limit, state.faulty.insert(one.connection).inserted else { return nil }
            state.count += 1
            return answer
        }
    }

    func preludeIsOver() { state.withLock { $0.isPreludeOver = true } }

    func saw(_ connection: Int) {
        state.withLock { state in if !state.isPreludeOver { state.early.insert(connection) } }
    }

    /// Whether this connection's first notification was confirmed in the prelude; once for each connection.
    func isEarly(_ connection: Int) -> Bool {
        state.withLock { state in
            guard state.isPreludeOver, state.early.remove(connection) != nil else { return false }
            state.count += 1
            return true
        }
    }
}
