internal import Holdfast
internal import HoldfastService

/// Waits while an operator has paused the lanes that have a backlog.
extension DeliveryRun {
    /// Lanes with a backlog that wait for an operator's word; none when others can't go on for another reason.
    var pausedLanes: [LaneKey] {
        let waiting = engine.status().lanes.filter { $0.backlog > 0 }
        guard waiting.allSatisfy(\.isPaused) else { return [] }
        return waiting.map(\.key)
    }

    /// Until an operator has resumed one of them, or they have waited for as long as a service that is away may.
    func sitOutPause() async -> Event {
        let paused = pausedLanes
        let names = paused.map(\.description).joined(separator: ", ")
        console.note("paused by an operator: \(names); `holdfast lanes resume` lets it go on")
        let start = ContinuousClock.now
        while !Task.isCancelled, pausedLanes == paused {
            if let limit = options.giveUpAfter, ContinuousClock.now - start >= limit {
                return .trouble(
                    ToolError(.entriesLeft, "gave up after \(Format.duration(limit)): paused by an operator: \(names)"))
            }
            do { try await Task.sleep(for: Self.look) } catch { return .watchEnded }
        }
        return .resting(await engine.untilIdle())
    }
}

extension EngineStatus.Lane {
    var isPaused: Bool { if case .paused = state { true } else { false } }
}
