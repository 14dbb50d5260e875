/// Takes frames out of what a session has written.
extension [UInt8] {
    /// A whole HTTP/2 frame in an array of bytes: 3 bytes of length, type, flags, 4 bytes of the stream (RFC 9113 section 4.1).
    private struct Frame {
        let bytes: ArraySlice<UInt8>

        var type: UInt8 { bytes[bytes.startIndex + 3] }
        var flags: UInt8 { bytes[bytes.startIndex + 4] }
        var stream: UInt32 { number(at: 5) }

        /// Four bytes, big-endian.
        func number(at offset: Int) -> UInt32 {
            bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Removes the acknowledgements of PING.
    package mutating func removePongs() {
        // PING is type 6, its ACK flag 1 (RFC 9113 section 6.7).
        removeFrames(from: 0) { $0.type == 6 && $0.flags & 1 == 1 }
    }

    /// Removes the refusals of streams.
    ///
    /// - Parameter start: where the first frame to be looked at begins.
    /// - Returns: the first stream that was refused; nil for none.
    mutating func removeRefusals(from start: Int) -> UInt32? {
        var refused: UInt32?
        removeFrames(from: start) { frame in
            // RST_STREAM is type 3, its code 7 REFUSED_STREAM (RFC 9113 sections 6.4 and 7).
            guard frame.type == 3, frame.number(at: 9) == 7 else { return false }
            refused = Swift.min(refused ?? .max, frame.stream)
            return true
        }
        return refused
    }

    /// - Parameter start: where the first frame begins.
    private mutating func removeFrames(from start: Int, where isUnwanted: (Frame) -> Bool) {
        var kept: [UInt8] = []
        var frame = start
        while count - frame >= 9 {
            let end = frame + 9 + (Int(self[frame]) << 16 | Int(self[frame + 1]) << 8 | Int(self[frame + 2]))
            guard end <= count else { break }
            if !isUnwanted(Frame(bytes: self[frame..<end])) { kept += self[frame..<end] }
            frame = end
        }
        guard frame > start else { return }
        replaceSubrange(start..<frame, with: kept)
    }
}
