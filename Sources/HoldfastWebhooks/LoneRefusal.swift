/// Decides whether an outcome is at fault that the receiver refuses by itself, or the receiver: a pure part of
/// ``WebhookMachine``.
///
/// A receiver that refuses everything (a wrong secret, say), or now this and now that (two nodes, one with a wrong secret),
/// must lose nothing. So an outcome is passed over only after these steps, and is told as usual if it is taken in any of them:
///
/// 1. The *suspect* is refused alone, with growing waits.
/// 2. It is refused again, and a *probe* is taken right behind it: an outcome that the receiver has taken before, which does
///    not break the order. So it goes several times, with waits. A probe that is refused begins this step anew.
/// 3. It is refused several times more, and the outcome behind it, the *witness*, is taken.
///
/// A witness that is refused goes through the second step itself, while the suspect is asked before it each time, and then the
/// next outcome is the witness. So a witness convicts only those of which each had its own probes.
struct LoneRefusal: Hashable, Sendable {
    /// The request that is due.
    enum Turn: Hashable, Sendable { case suspect, probe, witness }

    /// Refusals of the suspect before the first probe.
    static let tries = 5
    /// Probes that have to be taken for the suspect.
    static let suspectProbes = 8
    /// Probes that have to be taken for a witness that is refused.
    static let witnessProbes = 3
    /// Refusals of the suspect in a row, without a wait, before the witness is asked.
    static let repeats = 4
    /// The steps by which the wait behind a probe that was taken grows.
    static let greatestStep = 3

    private(set) var turn = Turn.suspect
    /// The place of the witness behind the suspect; 0 while the suspect has not had its probes.
    private(set) var witness = 0
    /// Probes that were taken for the suspect, or for the witness.
    private(set) var alternations = 0
    private var refusals = 0
    private var repeated = 0

    /// Whether the suspect was refused at all.
    var hasBegun: Bool { refusals > 0 }

    /// The suspect was refused by itself.
    ///
    /// - Parameter hasWitness: whether there is an outcome at the place of the witness.
    /// - Returns: whether the next request goes at once.
    mutating func suspectRefused(hasWitness: Bool) -> Bool {
        guard refusals >= Self.tries else {
            refusals += 1
            return false
        }
        guard witness > 0 else {
            turn = .probe
            return true
        }
        guard hasWitness else {
            repeated = 0
            return false
        }
        repeated += 1
        if repeated >= Self.repeats { (turn, repeated) = (.witness, 0) }
        return true
    }

    /// The witness was refused, too: a probe goes at once.
    mutating func witnessRefused() { turn = .probe }

    mutating func probeTaken() {
        turn = .suspect
        alternations += 1
        guard alternations >= (witness == 0 ? Self.suspectProbes : Self.witnessProbes) else { return }
        (witness, alternations) = (witness + 1, 0)
    }

    /// The receiver refuses also what it has taken before: nothing is known of any outcome.
    mutating func probeRefused() { (turn, witness, alternations, repeated) = (.suspect, 0, 0, 0) }

    /// A request failed that says nothing of any outcome.
    mutating func interrupted() { (turn, alternations, repeated) = (.suspect, 0, 0) }
}
