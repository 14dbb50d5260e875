/// Tells how much of the written data has left this machine: acknowledged by the peer's kernel, not only taken by ours.
///
/// A peer that stops reading fills both kernels' buffers. Data that waits there has not been sent, and silence about it
/// means nothing. A pure machine, fed with the counters of `TCPInfo`.
struct SendQueueGauge: Sendable {
    private struct Mark: Sendable {
        let position: UInt64
        /// The total bytes that the kernel had taken when the write that ended there was complete.
        let bytes: UInt64
    }

    private var marks: [Mark] = []
    private var head = 0
    private var acknowledged: UInt64 = 0

    /// Records that the kernel has taken everything up to the position, and this many bytes in total.
    mutating func written(through position: UInt64, bytes: UInt64) {
        marks.append(Mark(position: position, bytes: bytes))
    }

    /// Whether the kernel still holds data.
    var isWaiting: Bool { head < marks.count }

    /// - Parameters:
    /// - acknowledged: the total bytes that the peer's kernel has acknowledged.
    /// - Returns: the last position that has left, if it is new; and whether the peer acknowledged anything since the
    ///   last call.
    mutating func look(acknowledged: UInt64) -> (sentThrough: UInt64?, hasMoved: Bool) {
        let hasMoved = acknowledged > self.acknowledged
        self.acknowledged = max(acknowledged, self.acknowledged)
        var through: UInt64?
        while isWaiting, marks[head].bytes <= self.acknowledged {
            through = marks[head].position
            head += 1
        }
        if head > 64 || head == marks.count {
            marks.removeFirst(head)
            head = 0
        }
        return (through, hasMoved)
    }
}
