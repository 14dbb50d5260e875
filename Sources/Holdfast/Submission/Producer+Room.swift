/// Waiting for room in a full journal.
extension Producer {
    /// The longest wait before it checks again by itself.
    private static let patience = Duration.seconds(1)

    /// Submits notifications again that were refused for lack of room, until there is room or the time is over.
    ///
    /// - Returns: the receipts, in the order of the notifications.
    func waitForRoom(_ notifications: [PushNotification], _ receipts: [Receipt], atMost limit: Duration) async
        -> [Receipt]
    {
        var receipts = receipts
        let deadline = ContinuousClock.now + limit
        var hasWaited = false
        while !Task.isCancelled {
            let refused = receipts.indices.filter { receipts[$0].isRefusedForWantOfRoom }
            let left = deadline - ContinuousClock.now
            guard !refused.isEmpty, left > .zero else { break }
            await room.wait(atMost: min(left, Self.patience), isFirst: hasWaited)
            hasWaited = true
            let again = await submitOnce(refused.map { notifications[$0] })
            for (index, receipt) in zip(refused, again) { receipts[index] = receipt }
            // There may be more.
            if again.contains(where: { !$0.isRefusedForWantOfRoom }) { room.wakeFirst() }
        }
        return receipts
    }
}

extension Receipt {
    var isRefusedForWantOfRoom: Bool {
        if case .refused(let refusal) = self { refusal.reason == .journalFull } else { false }
    }
}
