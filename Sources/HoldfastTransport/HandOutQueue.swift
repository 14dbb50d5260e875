package import Holdfast

/// Entries that wait to be written, oldest first.
package struct HandOutQueue: Sendable {
    private var handOuts: [HandOut] = []
    /// Of the first hand-out, the next item to go.
    private var nextItem = 0

    package init() {}

    package var isEmpty: Bool { handOuts.isEmpty }

    package mutating func append(_ more: [HandOut]) {
        handOuts.append(contentsOf: more.lazy.filter { !$0.tickets.isEmpty })
    }

    /// The next entry: which of which hand-out.
    package var first: (handOut: HandOut, item: Int)? { handOuts.first.map { ($0, nextItem) } }

    /// The next entry has gone.
    package mutating func removeFirst() {
        guard let first = handOuts.first else { return }
        nextItem += 1
        guard nextItem == first.tickets.count else { return }
        handOuts.removeFirst()
        nextItem = 0
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
