/// The result of an append. Opaque outside of this package.
public struct Appended: Hashable, Sendable {
    /// An item that the journal had accepted before.
    package struct Repeat: Hashable, Sendable {
        /// The index of the item in its submission; in ``Appended/known``, of the inquiry.
        package let index: Int
        /// The UID assigned then.
        package let uid: UID
        /// Its outcome; `nil` while it is unconfirmed.
        package let outcome: TerminalOutcome?

        package init(index: Int, uid: UID, outcome: TerminalOutcome?) {
            self.index = index
            self.uid = uid
            self.outcome = outcome
        }
    }

    /// The UID of the first appended item; the others have consecutive UIDs, in the order of the items.
    package let first: UID
    /// The repeats among the items, ascending by index.
    package let repeats: [Repeat]
    /// The inquiries that the journal remembers, ascending by index.
    package var known: [Repeat] = []
    /// The indices of items that were left out because their rejection is gone; ascending.
    package let gone: [Int]

    package init(first: UID, repeats: [Repeat] = [], gone: [Int] = []) {
        self.first = first
        self.repeats = repeats
        self.gone = gone
    }

    /// The number of a submission's items that were appended.
    package func count(of submission: Submission) -> Int { submission.items.count - repeats.count - gone.count }
}
