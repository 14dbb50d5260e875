/// Limits a connection to one stream until the first was answered with 200.
package struct FirstStreamGuard {
    private let isActive: Bool
    /// The first stream, whose answer is still due.
    private var waiting: UInt32?
    private var isAnswered = false
    private var hasSucceeded = false
    /// The state when the bytes at hand were sent, as far as it can be known.
    private var isLifted = false

    package init(isActive: Bool) { self.isActive = isActive }

    /// Call before the bytes of a read are processed: requests that came together were sent before the first was
    /// answered.
    package mutating func beginCycle() {
        guard isActive else { return }
        isLifted = hasSucceeded
        if isAnswered { (waiting, isAnswered) = (nil, false) }
    }

    package mutating func admits(_ streamID: UInt32) -> Bool {
        guard isActive, !isLifted else { return true }
        guard waiting == nil else { return false }
        waiting = streamID
        return true
    }

    package mutating func answered(_ streamID: UInt32, withSuccess isSuccess: Bool) {
        guard isActive else { return }
        if isSuccess { hasSucceeded = true }
        if streamID == waiting { isAnswered = true }
    }
}
