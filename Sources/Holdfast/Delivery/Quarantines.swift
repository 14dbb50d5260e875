/// Entries whose records cannot be read are moved aside, and what follows them goes on.
final class Quarantines {
    private let context: RouteContext
    private let lanes: LaneTable
    private let shutdown: Shutdown
    /// Orders with the journal.
    private var underWay = 0
    /// Orders that the journal could not carry out, to be tried again.
    private var unmoved = Retries<QuarantineOrder>()

    init(_ context: RouteContext, _ lanes: LaneTable, _ shutdown: Shutdown) {
        self.context = context
        self.lanes = lanes
        self.shutdown = shutdown
    }

    var areDone: Bool { underWay == 0 && unmoved.isEmpty }
    var isUnderWay: Bool { underWay > 0 }
    var nextLook: Duration? { unmoved.nextLook }

    /// Has the journal move entries aside. Nothing reads them again meanwhile: the lane has passed them.
    func order(_ unreadable: [UnreadableEntry], of index: Int, wall: WallTime, possiblySent: (UID) -> Bool) {
        guard !unreadable.isEmpty else { return }
        let items = unreadable.map { QuarantineOrder.Item($0, isPossiblySent: possiblySent($0.uid)) }
        perform(QuarantineOrder(lane: lanes[index].id, items: items, at: wall))
    }

    private func perform(_ order: QuarantineOrder) {
        underWay += 1
        context.journal.quarantine(order) { [inbox = context.inbox] result in
            inbox.post { $0.quarantined.append((order, result)) }
        }
    }

    func take(
        _ quarantined: [(order: QuarantineOrder, result: Result<[UID], JournalError>)], now: Duration
    ) {
        for (order, result) in quarantined {
            underWay -= 1
            switch result {
            case .success(let moved): finish(order, moved: Set(moved))
            case .failure(let error) where error.isFatal: shutdown.fail(error)
            case .failure(let error):
                context.tell(.failed(.quarantining, error))
                unmoved.add(order, due: now + context.configuration.settlementRetry)
            }
        }
    }

    /// Retries orders that failed.
    func look(now: Duration) { for order in unmoved.takeDue(now) { perform(order) } }

    private func finish(_ order: QuarantineOrder, moved: Set<UID>) {
        guard let index = lanes.index(of: order.lane) else { return }
        for item in order.items where moved.contains(item.entry.uid) {
            lanes[index].machine.settled(item.entry.uid)
            context.tell(.quarantined(lanes[index].key, item.entry.uid, item.entry.fault))
        }
    }
}
