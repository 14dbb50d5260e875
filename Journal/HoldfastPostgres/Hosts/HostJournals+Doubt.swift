internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ

/// Journals whose owner was lost together with commits that the database may lack: what waits in them may have been sent.
extension HostJournals {
    private static let judgementPause = Duration.milliseconds(250)

    /// Whether what waits in a journal counts as possibly sent. Hosts that may know better are waited for, as long as they are before
    /// a journal is taken.
    func judge(
        _ place: ListedName, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) -> Bool {
        while true {
            let isInDoubt = try persist(stop) { (connection) throws(PQError) in
                try FleetCalls(terms.schema).isInDoubt(
                    place.id, epoch: epoch, patience: terms.times.takeAfter, connection, by: .now + terms.answer)
            }
            if let isInDoubt { return isInDoubt }
            onNews(
                .waiting(
                    "a standby was promoted, and nobody has said yet whether it had all of journal \(place.name), whose host is gone: a "
                        + "host that was there before is waited for, at most 10 s"))
            stop.rest(Self.judgementPause)
            guard !stop.isStopped else { throw stopped }
        }
    }

    /// The clock of a host may differ so much from the database's.
    private static let clockDifference = Duration.seconds(60)

    /// Brings back the deferred and scheduled entries that are due, since the lost owner may have sent them. At-most-once entries count
    /// as due a minute early, for an owner whose clock was ahead; at-least-once ones may go twice, and wait for their time.
    ///
    /// - Parameter now: by the database's clock.
    func endDeferrals(of journal: LMDBJournal, _ now: WallTime) throws(JournalError) {
        try journal.promoteAllDue { $0 == .atMostOnce ? now.advanced(by: Self.clockDifference) : now }
    }

    /// Two clocks that agree are right, however long the journal had no owner. By the earlier one, so that ours is not behind it.
    ///
    /// - Returns: `nil` where the clocks differ.
    static func provenTime(ours: WallTime, ofDatabase theirs: WallTime) -> WallTime? {
        let (earlier, later) = (min(ours, theirs), max(ours, theirs))
        return later <= earlier.advanced(by: clockDifference) ? earlier : nil
    }

    /// Says that the journal is in doubt no longer: its entries count as possibly sent by now, or the copy has shown which were sent.
    ///
    /// - Parameter time: of the last notification that the database has.
    func endDoubt(
        of place: ListedName, _ isInDoubt: Bool, from time: WallTime?, epoch: Int64, _ stop: OpeningStop
    ) throws(JournalError) {
        let loss = try persist(stop) { (connection) throws(PQError) -> LossWindow? in
            let (calls, deadline) = (FleetCalls(terms.schema), ContinuousClock.now + terms.answer)
            var loss: LossWindow?
            // Before the doubt ends, so that one who opens it again after a crash notes it, too.
            if isInDoubt {
                loss = try calls.noteLoss(of: place.id, epoch: epoch, from: time, connection, by: deadline)
            }
            try calls.endDoubt(of: place.id, epoch: epoch, connection, by: deadline)
            return loss
        }
        if let loss { onNews(.inDoubt(journal: place.name, loss)) }
    }
}
