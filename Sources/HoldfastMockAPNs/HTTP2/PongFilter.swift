extension [UInt8] {
    /// Removes the acknowledgements of PING from whole HTTP/2 frames.
    mutating func removePongs() {
        var kept: [UInt8] = []
        kept.reserveCapacity(count)
        var start = 0
        while count - start >= 9 {
            let end = start + 9 + (Int(self[start]) << 16 | Int(self[start + 1]) << 8 | Int(self[start + 2]))
            guard end <= count else { break }
            // PING is type 6, its ACK flag 1 (RFC 9113 section 6.7).
            let isPong = self[start + 3] == 6 && self[start + 4] & 1 == 1
            if !isPong { kept += self[start..<end] }
            start = end
        }
        kept += self[start...]
        self = kept
    }
}
