package import Trials

/// Cuts bytes into pieces at random, and never past the end of a frame, so that what the session writes can be laid to
/// one frame.
package struct Splitter {
    private var cutter: FrameCutter

    package init(hasPreface: Bool) { cutter = FrameCutter(hasPreface: hasPreface) }

    package mutating func pieces(_ bytes: [UInt8], _ random: inout SeededRandom) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let most = random.one(of: [1, 8, 9, 10, 30, 500, 20_000])
            var end = start
            // Byte by byte, to see where a frame ends.
            while end < bytes.count, end - start < most {
                end += 1
                if !cutter.frames([bytes[end - 1]]).isEmpty { break }
            }
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
