/// The times of leases. All hosts of a fleet must have the same ``hold`` and ``takeAfter``.
package struct LeaseTimes: Hashable, Sendable {
    /// The interval of beats and of looks.
    package let beat: Duration
    /// How long an owner hands out after it sent the last beat that was answered.
    package let hold: Duration
    /// How long a taker must have seen no beat.
    package let takeAfter: Duration
    /// How long a call waits for its answer. Then it is given up, and tried over a new connection.
    package let answer: Duration
    /// The wait after a failure.
    package let retry: Duration

    /// - Precondition: `beat` < `hold`, and `takeAfter` is at least twice `hold`. That factor is how much faster the clock of
    ///   one host may run than that of another.
    package init(
        beat: Duration = .seconds(2), hold: Duration = .seconds(5), takeAfter: Duration = .seconds(10),
        answer: Duration = .seconds(2), retry: Duration = .milliseconds(250)
    ) {
        precondition(beat > .zero && beat < hold && takeAfter >= hold * 2, "these times are not safe")
        precondition(answer > .zero && retry > .zero, "these times leave no room for a call")
        self.beat = beat
        self.hold = hold
        self.takeAfter = takeAfter
        self.answer = answer
        self.retry = retry
    }
}
