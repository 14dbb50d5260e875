internal import Logging

/// The last look before a hand-out, whoever asked for it.
extension Consumer {
    /// The batch without entries that are in flight already, on whichever connection. There should be none: the reading is
    /// ahead of everything that was handed out, and what goes again has left its window. Should this be broken, an entry
    /// stays with the connection that has it.
    func atLastDoor(_ batch: EntryBatch, of index: Int) -> EntryBatch {
        guard let first = batch.items.first, lanes[index].mayBeInFlight(from: first.uid) else { return batch }
        let uids = batch.items.map(\.uid)
        let inFlight = Set(links.values.flatMap { $0.inFlight(lane: index, among: uids) })
        guard !inFlight.isEmpty else { return batch }
        log(
            .secondHandOut,
            "\(inFlight.count) entries of \(lanes[index].key) are in flight and were not handed out once more: this is a "
                + "fault of the engine, please report it",
            ["lane": .lane(lanes[index].key), "count": .count(inFlight.count)])
        board.secondHandOut(inFlight.count)
        return batch.removing(batch.items.indices.filter { inFlight.contains(batch.items[$0].uid) })
    }
}
