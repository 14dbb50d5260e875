package import Holdfast

/// Requests that are handed over in one piece, each with the ticket it is answered by.
package protocol TicketBatch: Sendable {
    var count: Int { get }
    func ticket(at item: Int) -> Ticket
}

extension HandOut: TicketBatch {
    package var count: Int { tickets.count }
    package func ticket(at item: Int) -> Ticket { tickets[item] }
}

/// Entries that wait to be written, oldest first.
package typealias HandOutQueue = BatchQueue<HandOut>

/// Requests that wait to be written, oldest first.
package struct BatchQueue<Batch: TicketBatch>: Sendable {
    private var batches: [Batch] = []
    /// Of the first batch, the next item to go.
    private var nextItem = 0

    package init() {}

    package var isEmpty: Bool { batches.isEmpty }

    package mutating func append(_ more: [Batch]) {
        batches.append(contentsOf: more.lazy.filter { $0.count > 0 })
    }

    /// Takes requests out, oldest first, batch by batch, as long as `body` takes all of one.
    ///
    /// - Parameter body: is given a batch and the first of its items that has not gone; returns the first that it has left
    ///   where it is, or the batch's count.
    package mutating func takeBatches(_ body: (_ batch: borrowing Batch, _ first: Int) -> Int) {
        while let batch = batches.first {
            nextItem = body(batch, nextItem)
            guard nextItem >= batch.count else { return }
            batches.removeFirst()
            nextItem = 0
        }
    }

    /// All that wait, in order; then none does.
    package mutating func removeAll() -> [Ticket] {
        defer {
            batches = []
            nextItem = 0
        }
        return batches.enumerated().flatMap { index, batch in
            ((index == 0 ? nextItem : 0)..<batch.count).map(batch.ticket)
        }
    }
}

extension BatchQueue<HandOut> {
    /// Takes entries out, oldest first, as long as `body` takes them.
    ///
    /// - Parameter body: is told which of which hand-out; returns false where it has left that where it is.
    package mutating func takeWhile(_ body: (_ handOut: borrowing HandOut, _ item: Int) -> Bool) {
        takeBatches { handOut, first in
            var item = first
            while item < handOut.tickets.count, body(handOut, item) { item += 1 }
            return item
        }
    }
}
