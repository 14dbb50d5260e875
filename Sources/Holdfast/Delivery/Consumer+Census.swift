internal import Logging

/// Entries that the journal counts, and that no reading finds: they stand still, and all others go on.
extension Consumer {
    func takeCensuses(now: Duration) {
        for index in lanes.indices where !lanes[index].hasWork {
            let depth = journal.depth(lanes[index].id)
            guard censuses[index].isDue(depth: depth, now: now) else { continue }
            do throws(JournalError) {
                // What is in flight was reached.
                let unreachable = max(0, try journal.unreachable(lanes[index].id) - inFlight)
                guard censuses[index].looked(unreachable: unreachable, depth: depth, now: now) else { continue }
                let key = lanes[index].key
                log(
                    .entriesUnreachable, Self.unreachableWords(unreachable, of: key),
                    ["lane": .lane(key), "count": .count(unreachable)])
            } catch {
                _ = censuses[index].looked(unreachable: nil, depth: depth, now: now)
                guard !Self.isFatal(error) else { return fail(error) }
                log(.readFailed, "the journal can't be read and will be tried again: \(error)", error.metadata)
            }
        }
    }

    /// When to come back for that, of lanes for which nothing else does: neither answers nor what falls due.
    var censusWakes: [Duration] {
        guard inFlight == 0 else { return [] }
        return lanes.indices.compactMap { index in
            lanes[index].hasWork || deferredDue[index] != nil ? nil : censuses[index].next
        }
    }

    static func unreachableWords(_ count: Int, of key: LaneKey) -> String {
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        return "the journal is damaged: \(entries) of \(key) cannot be reached. `holdfast journal verify` says what "
            + "is damaged; with `--salvage NEW` it copies what is sound into a new journal"
    }
}
