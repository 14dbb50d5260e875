import Testing

@testable import Holdfast
@testable import HoldfastTransport

@Suite struct HandOutQueueTests {
    private func handOut(_ tickets: [UInt64]) -> HandOut {
        let items = tickets.map { EntryBatch.Item(uid: UID($0), attempts: 0, range: 0..<0) }
        return HandOut(
            entries: EntryBatch(bytes: [], items: items), tickets: tickets.map(Ticket.init(rawValue:)))
    }

    private func next(_ queue: HandOutQueue) -> UInt64? {
        queue.first.map { $0.handOut.tickets[$0.item].rawValue }
    }

    @Test("Entries go in the order of the hand-outs, empty ones among them") func order() {
        var queue = HandOutQueue()
        queue.append([handOut([1, 2]), handOut([]), handOut([3])])
        var seen: [UInt64] = []
        while let ticket = next(queue) {
            seen.append(ticket)
            queue.removeFirst()
        }
        #expect(seen == [1, 2, 3])
        #expect(queue.isEmpty)
    }

    @Test("What is given back is what has not gone, and the next hand-out begins with its first") func removeAll() {
        var queue = HandOutQueue()
        queue.append([handOut([1, 2, 3]), handOut([4])])
        queue.removeFirst()
        queue.removeFirst()
        #expect(queue.removeAll().map(\.rawValue) == [3, 4])
        #expect(queue.isEmpty)
        queue.append([handOut([5, 6])])
        #expect(next(queue) == 5)
        #expect(queue.removeAll().map(\.rawValue) == [5, 6])
    }

    @Test("An empty queue has nothing to remove") func empty() {
        var queue = HandOutQueue()
        queue.removeFirst()
        #expect(queue.removeAll().isEmpty)
    }
}
