/// Decides whether an outcome is at fault that the receiver refuses by itself, or the receiver: a pure part of
/// ``WebhookMachine``.
///
/// A receiver that refuses everything (a wrong secret, say) must lose nothing. So an outcome is passed over only if it was
/// refused again and again, and if the receiver takes a later one a moment after it has refused this one once more: the
/// *witness*. A witness that is refused as often is at fault itself, and the next one is asked.
struct LoneRefusal: Hashable, Sendable {
    /// Refusals before the next outcome is asked.
    static let tries = 5

    /// The place of the witness behind the refused outcome; 0 while that one is tried alone.
    private(set) var witness = 0
    /// Whether the outcome was refused a moment ago, so that the witness goes now.
    private(set) var isWitnessDue = false
    private var refusals = 0

    /// Whether the outcome was refused at all.
    var hasBegun: Bool { refusals > 0 || witness > 0 }

    /// The outcome was refused by itself.
    ///
    /// - Parameter hasWitness: whether there is an outcome at the place of the witness.
    /// - Returns: whether the witness goes at once.
    mutating func refused(hasWitness: Bool) -> Bool {
        if witness > 0 {
            isWitnessDue = hasWitness
        } else {
            count()
        }
        return isWitnessDue
    }

    /// The witness was refused, too.
    mutating func witnessRefused() {
        isWitnessDue = false
        count()
    }

    /// A request failed that says nothing of any outcome.
    mutating func interrupted() { isWitnessDue = false }

    private mutating func count() {
        refusals += 1
        guard refusals >= Self.tries else { return }
        (witness, refusals) = (witness + 1, 0)
    }
}
