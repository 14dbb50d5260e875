extension JournalWriter {
    func step(atMost count: Int) -> CommitMoment? {
        thread.impersonate {
            if var aftermath = unsaid {
                unsaid = nil
                if aftermath.isReported {
                    answer(aftermath)
                    return .completed
                }
                aftermath.isReported = true
                unsaid = aftermath
                report(aftermath)
                return .reported
            }
            let requests = thread.takeMore()
            take(requests)
            giveWay()
            if marksRefused, backlog.isEmpty, trims.isEmpty, indexWork == nil {
                // They wait for the next step, as they would for the next second.
                marksRefused = false
                return nil
            }
            unsaid = commit(atMost: count)
            return unsaid == nil ? nil : .visible
        }
    }

    func step<Value>(until reply: Reply<Value>) {
        while !reply.isGiven, step(atMost: .max) != nil {}
    }

    /// Does what waits, and says that the journal was closed in order.
    func stepToEnd() {
        while step(atMost: .max) != nil {}
        finish()
    }

    /// Drops what waits, unanswered.
    func forget() {
        _ = thread.takeMore()
        unsaid = nil
        backlog = []
        trims = []
        indexWork = nil
    }

    var waitingCount: Int {
        thread.waitingCount + backlog.count + trims.count + (indexWork == nil ? 0 : 1) + (marksWait ? 1 : 0)
    }
}
