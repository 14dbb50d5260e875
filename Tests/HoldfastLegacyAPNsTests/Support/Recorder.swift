import Holdfast
import HoldfastTesting

@testable import HoldfastLegacyAPNs

/// Takes the events of one connection.
final class Recorder: Sendable {
    struct State: Sendable {
        var sentThrough: UInt64 = 0
        var error: PayloadError?
        var barrierAnswered: UInt64?
        var stamps: [UInt64] = []
        var isDraining = false
        var end: ConnectionEnd?
    }

    private let state = Monitor(State())

    var now: State { state.withLock { $0 } }

    var sink: ConnectionSink {
        ConnectionSink { event in
            self.state.withLock { state in
                switch event {
                case .sent(let ticket): state.sentThrough = ticket.rawValue
                case .payloadError(let error): state.error = error
                case .barrierAnswered(let ticket): state.barrierAnswered = ticket.rawValue
                case .listened(let stamp): state.stamps.append(stamp)
                case .draining: state.isDraining = true
                case .ended(let end): state.end = end
                case .confirmed, .results, .capacityChanged, .told: break
                }
            }
        }
    }

    func wait(limit: Duration = .seconds(20), _ condition: (State) -> Bool) async -> Bool {
        await Patience(limit).wait { condition(now) }
    }

    /// The end, when it comes in time.
    func end(limit: Duration = .seconds(20)) async -> ConnectionEnd? {
        _ = await wait(limit: limit) { $0.end != nil }
        return now.end
    }
}

extension LegacyAPNsConnector {
    func dial(_ recorder: Recorder) async throws -> any CumulativeConnection {
        let connection = try await connect(recorder.sink)
        guard let cumulative = connection as? any CumulativeConnection else { fatalError("not cumulative") }
        return cumulative
    }
}
