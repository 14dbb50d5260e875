/// One lane of a route: where its reading is, whether it runs, how it tries again, and what of it waits.
struct RouteLane: Sendable {
    /// The reading position, the send mark, and whether anything goes out.
    var machine: LaneStateMachine
    /// Answers that all refuse in the same way.
    var uniform = UniformRefusals()
    /// How the lane tries again after it stopped by itself.
    var probe = LaneProbe()
    /// Whether the journal finds all that it counts.
    var census = LaneCensus()
    /// When deferred entries come back.
    var deferral = LaneDeferral()

    init(_ machine: LaneStateMachine) { self.machine = machine }

    var key: LaneKey { machine.key }
    var id: LaneID { machine.id }
    var isRunning: Bool { machine.isRunning }
    /// By itself; not by an operator.
    var isStopped: Bool { machine.isStopped }
    /// Whether anything goes out: all there is, or a probe.
    var handsOut: Bool { machine.handsOut }
    var hasWork: Bool { machine.hasWork }
    /// Whether its entries go out once at most.
    var hasOneAttempt: Bool { machine.key.guarantee == .atMostOnce }

    /// The lane stopped, and only a probe ends that, or what its remedy says. A connection needs no probe: connecting is
    /// the probe.
    var wantsProbe: Bool { isStopped && machine.remedy != .connection }

    /// When there is something to do again, whatever comes in the meantime.
    var nextLook: Duration? { probe.wake }

    /// Stops the lane by itself, and plans its first probe. An operator's word is stronger.
    ///
    /// - Parameter remedy: what ends it at once; nil for what a probe or an operator's word ends.
    /// - Returns: whether it ran until now.
    mutating func stop(
        _ message: String, remedy: LaneStateMachine.StopRemedy?, _ schedule: ProbeSchedule, at now: Moment,
        random: () -> Double
    ) -> Bool {
        guard isRunning else { return false }
        machine.stop(message, remedy: remedy, since: now.wall)
        if wantsProbe { probe.begin(schedule, at: now, random: random()) }
        return true
    }

    /// The lane runs again.
    mutating func resume() {
        machine.resume()
        probe.end()
    }

    mutating func pause(_ reason: String, since wall: WallTime) {
        machine.pause(reason, since: wall)
        probe.end()
    }
}
