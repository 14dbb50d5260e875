/// Pauses of tags. The journal's note decides, for this process and later ones; the routes heed it from their next turns on.
extension EngineCore {
    /// Changes the paused tags, durably on return. One caller at a time.
    package func changePausedTags(
        _ change: (inout TagPauses) throws(JournalError) -> Void
    ) throws(JournalError) {
        let before = surroundings.pausedTags.withLock { $0 }
        var pauses = before
        try change(&pauses)
        guard pauses != before else { return }
        try journal.keep(pauses)
        surroundings.pausedTags.withLock { $0 = pauses }
        observer.conditions.look(isForced: true)
    }

    /// Waits until every route heeds the paused tags of now. It needs turns.
    ///
    /// - Parameter completion: called once, by whoever runs the last of these turns.
    package func heedPausedTags(completion: @escaping @Sendable () -> Void) {
        let consumers = consumers
        let left = Monitor(consumers.count + 1)
        let heeded: @Sendable () -> Void = {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { completion() }
        }
        // One whose work has ended hands out nothing, and who goes on for it has begun since.
        for consumer in consumers where !consumer.post({ $0.tagInquiries.append(heeded) }) { heeded() }
        heeded()
    }
}
