package import Holdfast

/// Entries that wait to be written, oldest first.
package struct HandOutQueue: Sendable {
    private var handOuts: [HandOut] = []
    /// The index of the next item in the first hand-out.
    private var nextItem = 0

    package init() {}

    package var isEmpty: Bool { handOuts.isEmpty }

    package mutating func append(_ more: [HandOut]) {
        handOuts.append(contentsOf: more.lazy.filter { !$0.tickets.isEmpty })
    }

    /// Takes entries out, oldest first, as long as `body` takes them.
    ///
    /// - Parameter body: is told which of which hand-out; returns false where it has left that where it is.
    package mutating func takeWhile(_ body: (_ handOut: borrowing HandOut, _ item: Int) -> Bool) {
        while let first = handOuts.first {
            let count = first.tickets.count
            while nextItem < count {
                guard body(first, nextItem) else { return }
                nextItem += 1
            }
            handOuts.removeFirst()
            nextItem = 0
        }
    }

    /// All that wait, in order; then none does.
    package mutating func removeAll() -> [Ticket] {
        defer {
            handOuts = []
            nextItem = 0
        }
        return handOuts.enumerated().flatMap { index, handOut in handOut.tickets[(index == 0 ? nextItem : 0)...] }
    }
}
