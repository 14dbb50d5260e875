/// Stops lanes and lets them run again, tells of it, and notes it in the journal.
final class LaneStates {
    private let context: RouteContext
    private let lanes: LaneTable

    init(_ context: RouteContext, _ lanes: LaneTable) {
        self.context = context
        self.lanes = lanes
    }

    /// Stops a lane that runs, until a probe, an operator or its remedy ends that.
    func stop(_ index: Int, _ message: String, remedy: LaneStateMachine.StopRemedy? = nil) {
        let hasStopped = lanes[index].stop(
            message, remedy: remedy, context.configuration.probes, at: context.clock.moment(),
            random: { context.jitter.unit() })
        guard hasStopped else { return }
        changed(LaneChange(lane: index))
        if let kind = lanes[index].machine.stopKind { context.teller.observer.stopped(because: kind) }
    }

    /// Lanes that were stopped for a cause that is mended run again.
    func resume(stoppedFor remedies: Set<LaneStateMachine.StopRemedy>) {
        for change in lanes.resume(stoppedFor: remedies) { changed(change) }
    }

    /// Notes and tells that a lane has stopped, or runs again.
    func changed(_ change: LaneChange) {
        note(change.lane)
        tell(change.lane)
    }

    /// Stores the lane's state in the journal, for a restart and for readers. It decides nothing in this process.
    func note(_ index: Int) {
        context.journal.setState(of: lanes[index].id, to: lanes[index].machine.state) {
            [inbox = context.inbox] result in
            guard case .failure(let error) = result else { return }
            inbox.post { $0.statesNotNoted.append((index, error)) }
        }
    }

    private func tell(_ index: Int) {
        context.tell(.laneChanged(lanes[index].key, lanes[index].machine.state))
    }

    /// Lets stopped lanes whose probe is due hand out one entry, and takes that back from all others.
    func lookAtProbes(at now: Moment) {
        let hasProbeOut = lanes.hasProbeOut
        for index in lanes.indices where lanes[index].wantsProbe {
            let isDue = lanes[index].probe.look(
                context.configuration.probes, at: now, random: context.jitter.unit())
            lanes[index].machine.mayProbe = isDue && !hasProbeOut
        }
    }

    // MARK: An operator's word

    func resume(_ index: Int) {
        guard !lanes[index].isRunning else { return }
        // Answers that were all the same are counted on: where the cause is not mended, the next one stops the lane again, and nothing
        // more is rejected.
        lanes[index].resume()
        tell(index)
    }

    func pause(_ index: Int, _ reason: String, since wall: WallTime) {
        lanes[index].pause(reason, since: wall)
        tell(index)
    }
}
