internal import Holdfast
internal import HoldfastPQ

/// The calls by which hosts say whether a promotion has lost commits, and ask what to do where nobody says it.
extension FleetCalls {
    /// Reads what a host is to remember, and whether the database asks for a host that remembers the time before its promotion.
    ///
    /// - Parameter mine: the journals that the host has.
    /// - Throws: `refused` with 25006 from a standby.
    func remember(
        with mine: Set<Int32>, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (FleetMemory.Sight, isAsked: Bool) {
        let row = try connection.run([PQStep(rememberStatement)], by: deadline)[0].row(0)
        let sight = FleetMemory.Sight(
            fleet: try row.text(0), incarnation: try row.text(1), timeline: try row.text(2), awaited: try row.text(3),
            beats: try row.text(4), journals: mine.sorted())
        return (sight, try row.bool(5))
    }

    /// Says what this host has seen last before the promotion.
    func vouch(
        with sight: FleetMemory.Sight, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        for text in [sight.incarnation, sight.timeline, sight.awaited, sight.beats] { parameters.append(text) }
        parameters.append("{" + (sight.journals ?? []).map(String.init).joined(separator: ",") + "}")
        try connection.run([PQStep(vouchStatement, parameters)], by: deadline)
    }

    /// Whether what waits in a journal counts as possibly sent, since its owner before was lost with commits that the database may
    /// lack.
    ///
    /// - Parameter patience: for which others are waited for who may know better, from the first host on that asks.
    /// - Throws: `refused` with HF001 when the journal has another owner.
    /// - Returns: `nil` where that is not known yet.
    func isInDoubt(
        _ journal: Int32, epoch: Int64, patience: Duration, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool? {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        parameters.append(Int64(patience / .milliseconds(1)))
        return switch try connection.run([PQStep(doubtStatement, parameters)], by: deadline)[0].row(0).text(0) {
        case "yes": true
        case "later": nil
        default: false
        }
    }

    /// Says that a journal that was in doubt is open, and counts what waits in it as possibly sent.
    func endDoubt(
        of journal: Int32, epoch: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        try connection.run([PQStep(endDoubtStatement, parameters)], by: deadline)
    }

    /// Notes that the last commits of a journal may be lost.
    ///
    /// - Parameter time: of the last notification that the database has; nil where that is not known.
    /// - Throws: `refused` with HF001 when the journal has another owner.
    func noteLoss(
        of journal: Int32, epoch: Int64, from time: WallTime?, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> LossWindow {
        var parameters = PQParameters()
        parameters.append(journal)
        parameters.append(epoch)
        parameters.append(time?.milliseconds ?? 0)
        let end = try connection.run([PQStep(noteLossStatement, parameters)], by: deadline)[0].row(0).int8(0)
        return LossWindow(from: time, to: WallTime(milliseconds: end))
    }

    /// The time by the database's clock, which all hosts share.
    func now(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> WallTime {
        let text = "SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8"
        return WallTime(milliseconds: try connection.run([PQStep(PQStatement(text))], by: deadline)[0].row(0).int8(0))
    }
}
