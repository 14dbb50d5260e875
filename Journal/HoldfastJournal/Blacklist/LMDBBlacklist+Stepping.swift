import Holdfast

extension LMDBBlacklist {
    func step() -> CommitMoment? {
        thread.impersonate {
            let answers = unsaid.withLock { unsaid in
                defer { unsaid = nil }
                return unsaid
            }
            if let answers {
                answers()
                return .completed
            }
            let changes = thread.takeMore()
            guard !changes.isEmpty else { return nil }
            let next = commit(changes)
            unsaid.withLock { unsaid in unsaid = next }
            return .visible
        }
    }

    func step<Value>(until reply: Reply<Value>) {
        while !reply.isGiven, step() != nil {}
    }

    func stepToEnd() {
        thread.shut()
        while step() != nil {}
    }

    var waitingCount: Int { thread.waitingCount + (unsaid.withLock { unsaid in unsaid == nil } ? 0 : 1) }
}
