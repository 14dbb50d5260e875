internal import Holdfast

/// Judges whether what is left still comes to its end, on connections that do well. A pure machine; time is told to it.
struct ProgressWatch {
    /// The state of a run at a moment.
    struct Sight {
        /// Of this run, and when each was answered "not now", or with nothing known.
        var settled = 0
        var deferrals = 0
        var unconfirmed = 0
        var inFlight = 0
        /// Whether more is to come, or an operator's word is waited for.
        var isHeld = false
        /// Whether the input waits for room in the journal, which comes only when something ends.
        var waitsForRoom = false
    }

    /// After so long it is worth a line.
    static let patience = Duration.seconds(10)

    private var settled = 0
    private var deferrals = 0
    private var since: Duration?

    /// - Returns: how long nothing has come to its end, counted from when something was put off, nothing was in flight, or
    ///   the input had to wait for room; nil while all is well.
    mutating func look(_ sight: Sight, at now: Duration) -> Duration? {
        let isAwaited = sight.waitsForRoom || sight.unconfirmed > 0 && !sight.isHeld
        guard sight.settled == settled, isAwaited else {
            (settled, deferrals, since) = (sight.settled, sight.deferrals, nil)
            return nil
        }
        // One that is tried again is in flight now and then.
        guard since != nil || sight.deferrals > deferrals || sight.inFlight == 0 || sight.waitsForRoom else {
            return nil
        }
        let start = since ?? now
        since = start
        return now - start
    }
}
