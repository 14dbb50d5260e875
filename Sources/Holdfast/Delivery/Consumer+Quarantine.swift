internal import Logging

/// Entries whose records cannot be read are moved aside, and what follows them goes on.
extension Consumer {
    /// A record that the journal took for sound, and whose notification is not.
    struct UnreadablePosition: Error {
        let position: Int
        let fault: RecordFault
    }

    /// Has the journal move entries aside. Nothing reads them again meanwhile: the lane has passed them.
    func quarantine(
        _ unreadable: [UnreadableEntry], of index: Int, wall: WallTime, possiblySent: (UID) -> Bool
    ) {
        guard !unreadable.isEmpty else { return }
        let items = unreadable.map { QuarantineOrder.Item($0, isPossiblySent: possiblySent($0.uid)) }
        quarantine(QuarantineOrder(lane: lanes[index].id, items: items, at: wall))
    }

    private func quarantine(_ order: QuarantineOrder) {
        beingWritten += 1
        journal.quarantine(order) { [weak self] result in
            self?.post { $0.quarantined.append((order, result)) }
        }
    }

    func takeQuarantined(
        _ quarantined: [(order: QuarantineOrder, result: Result<[UID], JournalError>)], now: Duration
    ) {
        for (order, result) in quarantined {
            beingWritten -= 1
            switch result {
            case .success(let moved):
                tellQuarantined(order, moved: moved)
            case .failure(let error) where Self.isFatal(error):
                fail(error)
            case .failure(let error):
                log(
                    .settlementFailed,
                    "unreadable entries could not be moved aside and will be tried again: \(error)", error.metadata)
                unmoved.append((now + configuration.settlementRetry, order))
            }
        }
        endPayloadErrorHold()
    }

    /// What could not be moved aside is tried again.
    func retryQuarantines(now: Duration) {
        guard !unmoved.isEmpty else { return }
        let due = unmoved.filter { $0.due <= now }
        unmoved.removeAll { $0.due <= now }
        for (_, order) in due { quarantine(order) }
    }

    private func tellQuarantined(_ order: QuarantineOrder, moved: [UID]) {
        guard let index = lanes.firstIndex(where: { $0.id == order.lane }) else { return }
        let key = lanes[index].key
        let moved = Set(moved)
        for item in order.items where moved.contains(item.entry.uid) {
            let (uid, fault) = (item.entry.uid, item.entry.fault)
            lanes[index].settled(uid)
            log(
                .entryQuarantined,
                "entry \(uid) of \(key) can't be read and is in quarantine: \(fault); see `holdfast journal quarantine`",
                ["uid": .stringConvertible(uid), "lane": .lane(key), "fault": .string("\(fault)")])
            events.emit(.quarantined(key, uid, fault))
        }
    }
}
