/// Says how far what was written has left this machine: taken by the peer's kernel, not just by ours.
///
/// A peer that stops reading fills both kernels' buffers; what waits there has not been sent, and silence about it means
/// nothing. A pure machine, fed with the counters of `TCPInfo`.
struct SendQueueGauge: Sendable {
    private struct Mark: Sendable {
        let position: UInt64
        /// All bytes that the kernel had taken when the write that ended there was through.
        let bytes: UInt64
    }

    private var marks: [Mark] = []
    private var head = 0
    private var acknowledged: UInt64 = 0

    /// The kernel has taken everything up to the position; it has taken this many bytes altogether.
    mutating func written(through position: UInt64, bytes: UInt64) {
        marks.append(Mark(position: position, bytes: bytes))
    }

    /// Whether something that the kernel has taken is still with it.
    var isWaiting: Bool { head < marks.count }

    /// - Parameters:
    ///   - acknowledged: bytes that the peer's kernel has taken altogether.
    /// - Returns: the last position that has left, when there is a new one; and whether the peer took anything since the
    ///   last time.
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
