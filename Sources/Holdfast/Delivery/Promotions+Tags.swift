/// What waits for its tag, which is paused no more.
extension Promotions {
    /// Finds what waits for no paused tag any more, in lanes where there may be such.
    func lookForResumed(at now: Moment) {
        for index in lanes.indices where judge.tagHold.isUnknown(lane: index) {
            let lane = lanes[index].id
            do throws(JournalError) {
                guard context.journal.heldCount(lane) > 0 else {
                    judge.tagHold.foundNothing(lane: index)
                    continue
                }
                try judge.tagHold.find(lane: index) { (after) throws(JournalError) in
                    try context.journal.nextDue(lane, after: after)
                }
            } catch {
                guard !error.isFatal else { return shutdown.fail(error) }
                lanes[index].deferral.unread(tryingAgainAt: now.monotonic + context.configuration.settlementRetry)
            }
        }
    }

    /// Brings back entries of tags that are resumed.
    func callBackForTags(_ lane: Int) {
        guard let call = judge.tagHold.call(lane: lane), canPromote(lane) else { return }
        let limit = tagLimit(lane)
        guard limit > 0, promote(lane, after: call.after, through: call.through, limit: limit, for: .tag) else {
            return
        }
        lanes[lane].deferral.hadItsTurn = false
    }

    /// The number of entries of resumed tags that may come back now. They go before what was never handed out, so they leave
    /// half of the window to that: a campaign of a million holds up nothing.
    private func tagLimit(_ lane: Int) -> Int {
        let limit = places.promotionLimit(lane)
        guard lanes[lane].machine.hasForwardWork else { return limit }
        return max(limit - context.configuration.window / 2, judge.againCount(in: lane) == 0 ? 1 : 0)
    }
}
