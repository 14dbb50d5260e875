/// DATA that waits for the peer's flow-control windows, in the order it was written.
struct HeldData {
    struct Body {
        let streamID: UInt32
        var bytes: [UInt8]
        /// The bytes that have gone out.
        var start: Int
        var endsStream: Bool

        var left: Int { bytes.count - start }

        /// Frees sent bytes once they are most of the buffer: a peer that opens its window byte by byte, or a caller
        /// that goes on adding, would otherwise make it grow.
        mutating func forgetSent() {
            guard start > left, start >= 1024 else { return }
            bytes = Array(bytes[start...])
            start = 0
        }
    }

    private var bodies: [Body] = []
    /// Bytes that wait.
    private(set) var byteCount = 0
    /// Bytes that waited and have gone out.
    private(set) var sentCount = 0

    /// Bytes that are kept, those included that went out and are not given back yet. For tests; looks at every body.
    var storedBytes: Int { bodies.reduce(0) { $0 + $1.bytes.count } }

    @inline(__always) var isEmpty: Bool { bodies.isEmpty }

    /// Keeps bytes.
    ///
    /// - Parameter isHeld: the stream has some here already; these go behind them.
    mutating func hold(_ bytes: ArraySlice<UInt8>, for streamID: UInt32, endsStream: Bool, isHeld: Bool) {
        byteCount += bytes.count
        if isHeld, let index = bodies.firstIndex(where: { $0.streamID == streamID }) {
            bodies[index].bytes.append(contentsOf: bytes)
            bodies[index].endsStream = endsStream
        } else {
            bodies.append(Body(streamID: streamID, bytes: Array(bytes), start: 0, endsStream: endsStream))
        }
    }

    /// Drops the unsent data of a closed stream.
    mutating func drop(_ streamID: UInt32) {
        guard let index = bodies.firstIndex(where: { $0.streamID == streamID }) else { return }
        byteCount -= bodies[index].left
        bodies.remove(at: index)
    }

    /// Takes out, in order, the data that may go now.
    ///
    /// - Parameters:
    ///   - only: the one stream whose window changed; nil after a change of the connection's.
    ///   - write: writes a part of a body and returns its length, or nil when no stream may send any more.
    /// - Returns: the streams that have nothing left here.
    mutating func flush(only: UInt32?, _ write: (Body) -> Int?) -> [UInt32] {
        var done: [UInt32] = []
        for index in bodies.indices where only == nil || bodies[index].streamID == only {
            guard let written = write(bodies[index]) else { break }
            bodies[index].start += written
            byteCount -= written
            sentCount += written
            bodies[index].forgetSent()
            if bodies[index].left == 0 { done.append(bodies[index].streamID) }
        }
        if !done.isEmpty { bodies.removeAll { $0.left == 0 } }
        return done
    }
}
