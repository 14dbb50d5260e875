import Testing

@testable import Holdfast
@testable import HoldfastTransport

@Suite struct HandOutQueueTests {
    private func handOut(_ tickets: [UInt64]) -> HandOut {
        let items = tickets.map { EntryBatch.Item(uid: UID($0), attempts: 0, range: 0..<0) }
        return HandOut(
            entries: EntryBatch(bytes: [], items: items), tickets: tickets.map(Ticket.init(rawValue:)))
    }

    /// Takes at most so many.
    private func take(_ count: Int, from queue: inout HandOutQueue) -> [UInt64] {
        var taken: [UInt64] = []
        queue.takeWhile { handOut, item in
            guard taken.count < count else { return false }
            taken.append(handOut.tickets[item].rawValue)
            return true
        }
        return taken
    }

    @Test("Entries go in the order of the hand-outs, empty ones among them") func order() {
        var queue = HandOutQueue()
        queue.append([handOut([1, 2]), handOut([]), handOut([3])])
        #expect(take(1, from: &queue) == [1])
        #expect(take(9, from: &queue) == [2, 3])
        #expect(queue.isEmpty)
    }

    @Test("What is given back is what has not gone, and the next hand-out begins with its first") func removeAll() {
        var queue = HandOutQueue()
        queue.append([handOut([1, 2, 3]), handOut([4])])
        #expect(take(2, from: &queue) == [1, 2])
        #expect(queue.removeAll().map(\.rawValue) == [3, 4])
        #expect(queue.isEmpty)
        queue.append([handOut([5, 6])])
        #expect(take(0, from: &queue).isEmpty)
        #expect(queue.removeAll().map(\.rawValue) == [5, 6])
    }

    @Test("An empty queue has nothing to remove") func empty() {
        var queue = HandOutQueue()
        #expect(take(1, from: &queue).isEmpty)
        #expect(queue.removeAll().isEmpty)
    }
}
