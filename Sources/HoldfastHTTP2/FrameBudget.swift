/// Limits the work that a peer causes without progress. Without a clock: completed messages earn a new budget, and the
/// driver may grant one now and then.
struct FrameBudget {
    private(set) var idleFrames = 0
    private(set) var resets = 0

    /// Spends on a frame that makes no progress.
    ///
    /// - Parameter slots: the number of stream slots that it makes us look at. Such a frame counts for more, so that
    ///   the cost of a budget does not grow with the number of streams.
    mutating func spendFrame(_ limits: HTTP2Limits, lookingAt slots: Int = 0) throws(HTTP2Error) {
        idleFrames += 1 + slots / 64
        guard idleFrames <= limits.maxIdleFrames else {
            throw HTTP2Error(.enhanceYourCalm, "more than \(limits.maxIdleFrames) frames without a message")
        }
    }

    /// A stream that ended by RST_STREAM.
    mutating func spendReset(_ limits: HTTP2Limits) throws(HTTP2Error) {
        resets += 1
        guard resets <= limits.maxResets else {
            throw HTTP2Error(.enhanceYourCalm, "more than \(limits.maxResets) streams reset")
        }
    }

    /// A message was received whole.
    @inline(__always)
    mutating func earnFrames() { idleFrames = 0 }

    /// A request was answered.
    @inline(__always)
    mutating func earn() {
        idleFrames = 0
        if resets > 0 { resets &-= 1 }
    }

    mutating func renew() { self = FrameBudget() }
}
