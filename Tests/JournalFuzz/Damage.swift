import Holdfast

/// What a disk, a copy or a bug may do to a file.
enum Damage: CaseIterable {
    case flipBit, flipBytes, zeroPage, garbagePage, swapPages, repeatPage, truncate, oddNumber, metaNumber, stalePage
    case nothing

    private static let pageByteCount = 4096

    /// - Returns: what was done, for people.
    func apply(to bytes: inout [UInt8], _ random: inout Xoshiro256) -> String {
        let pages = bytes.count / Self.pageByteCount
        let page = Int.random(in: 0..<pages, using: &random)
        let start = page * Self.pageByteCount
        let offset = Int.random(in: 0..<bytes.count, using: &random)
        switch self {
        case .nothing: return "nothing"
        case .flipBit:
            bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            return "a bit of byte \(offset)"
        case .flipBytes:
            for place in offset..<min(bytes.count, offset + Int.random(in: 1...64, using: &random)) {
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            return "bytes from \(offset)"
        case .zeroPage:
            for place in start..<(start + Self.pageByteCount) { bytes[place] = 0 }
            return "page \(page) zeroed"
        case .garbagePage:
            // Half of them keep their head, so that they are looked into.
            let from = Bool.random(using: &random) ? start + 16 : start
            for place in from..<(start + Self.pageByteCount) {
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            return "garbage in page \(page) from \(from - start)"
        case .swapPages, .repeatPage, .stalePage:
            let other = Int.random(in: 0..<pages, using: &random) * Self.pageByteCount
            return exchange(start, other, &bytes)
        case .truncate:
            bytes.removeLast(bytes.count - offset)
            return "truncated to \(offset)"
        case .oddNumber: return put(at: offset & ~1, in: &bytes, &random)
        case .metaNumber:
            let place =
                Self.pageByteCount * Int.random(in: 0...1, using: &random)
                + Int.random(in: 0..<76, using: &random) * 2
            return put(at: place, in: &bytes, &random)
        }
    }

    private func exchange(_ start: Int, _ other: Int, _ bytes: inout [UInt8]) -> String {
        let (one, two) = (bytes[start..<(start + 4096)], bytes[other..<(other + 4096)])
        bytes.replaceSubrange(start..<(start + 4096), with: two)
        if self == .swapPages { bytes.replaceSubrange(other..<(other + 4096), with: one) }
        // A page that was written in the wrong place, but says that it is the right one.
        if self == .stalePage { for index in 0..<8 { bytes[start + index] = one[one.startIndex + index] } }
        return "\(self) \(start / 4096) and \(other / 4096)"
    }

    /// A number that finds those who add and multiply without care.
    private func put(at offset: Int, in bytes: inout [UInt8], _ random: inout Xoshiro256) -> String {
        let numbers: [UInt64] = [0, 1, 2, 3, 15, 16, 4095, 4096, 0x7FFF, 0xFFFF, 0xFFFF_FFFF, 1 << 32, 1 << 63, .max]
        let number = (numbers.randomElement(using: &random) ?? 0) &+ UInt64.random(in: 0...1, using: &random)
        let width = [1, 2, 4, 8].randomElement(using: &random) ?? 2
        for index in 0..<width where offset + index < bytes.count {
            bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
        }
        return "\(number) in \(width) bytes at \(offset)"
    }
}
