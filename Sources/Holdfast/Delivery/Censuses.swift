/// Looks for entries that the journal counts and that no reading finds: they stand still, and all others go on.
final class Censuses {
    private let context: RouteContext
    private let lanes: LaneTable
    private let connections: Connections
    private let shutdown: Shutdown

    init(_ context: RouteContext, _ lanes: LaneTable, _ connections: Connections, _ shutdown: Shutdown) {
        self.context = context
        self.lanes = lanes
        self.connections = connections
        self.shutdown = shutdown
    }

    func look(now: Duration) {
        for index in lanes.indices where !lanes[index].hasWork {
            let depth = context.journal.depth(lanes[index].id)
            guard lanes[index].census.isDue(depth: depth, now: now) else { continue }
            do throws(JournalError) {
                // What is in flight was reached.
                let unreachable = max(0, try context.journal.unreachable(lanes[index].id) - connections.inFlight)
                if lanes[index].census.looked(unreachable: unreachable, depth: depth, now: now) {
                    context.tell(.unreachable(lanes[index].key, unreachable))
                }
            } catch {
                _ = lanes[index].census.looked(unreachable: nil, depth: depth, now: now)
                guard !error.isFatal else { return shutdown.fail(error) }
                context.tell(.failed(.reading, error))
            }
        }
    }

    /// When to look again at lanes for which nothing else comes back: neither answers nor what falls due.
    var nextLook: Duration? {
        guard connections.inFlight == 0 else { return nil }
        return lanes.compactMap { $0.hasWork || $0.deferral.due != nil ? nil : $0.census.next }.min()
    }
}
