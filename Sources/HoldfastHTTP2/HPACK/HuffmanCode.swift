/// The Huffman code of RFC 7541 appendix B, and its decoder.
///
/// The code is canonical: codes of one length follow one another in the order of their symbols, so the lengths alone
/// define it.
struct HuffmanCode: Sendable {
    /// Bits that one look-up takes in. Most codes that occur are 5 to 8 bits long, so that two often fit.
    private static let width = 12
    /// Bits of the longest code.
    private static let longest = 30
    /// The symbol that no string may hold.
    private static let endOfString: UInt16 = 256

    /// Bits of the shortest code: no string decodes to more than 8/5 of its bytes.
    private static let shortest = 5

    /// The result of a look-up: the bits of one symbol, then of both (0: there is no second one), then the symbols. All
    /// zero where the first code is longer than a look-up.
    private struct Entry {
        var first: UInt8 = 0
        var both: UInt8 = 0
        var symbols: (UInt8, UInt8) = (0, 0)
    }

    private let entries: [Entry]
    /// For each length: the end of its codes, on the left of 32 bits; and the number to add to a code for its place
    /// among `symbols`.
    private let ends: [UInt64]
    private let offsets: [Int]
    /// All symbols in the order of their codes.
    private let symbols: [UInt16]

    static let standard = HuffmanCode()

    private init() {
        var symbols: [UInt16] = []
        var ends = [UInt64](repeating: 0, count: Self.longest + 1)
        var offsets = [Int](repeating: 0, count: Self.longest + 1)
        var code = 0
        for length in 1...Self.longest {
            code <<= 1
            offsets[length] = symbols.count - code
            for symbol in Self.lengths.indices where Self.lengths[symbol] == length {
                symbols.append(UInt16(symbol))
                code += 1
            }
            ends[length] = UInt64(code) << (32 - length)
        }
        (self.symbols, self.ends, self.offsets) = (symbols, ends, offsets)
        entries = (0..<1 << Self.width).map { prefix in
            let bits = UInt64(prefix) << (32 - Self.width)
            var entry = Entry()
            guard let (symbol, length) = Self.symbol(bits, upTo: Self.width, symbols, ends, offsets) else {
                return entry
            }
            (entry.first, entry.symbols.0) = (UInt8(length), UInt8(symbol))
            let rest = bits << length & 0xffff_ffff
            if let (second, more) = Self.symbol(rest, upTo: Self.width - length, symbols, ends, offsets) {
                (entry.both, entry.symbols.1) = (UInt8(length + more), UInt8(second))
            }
            return entry
        }
    }

    /// The symbol that begins 32 bits, and the length of its code; nil where that is longer than `limit`.
    private static func symbol(
        _ bits: UInt64, upTo limit: Int, _ symbols: [UInt16], _ ends: [UInt64], _ offsets: [Int]
    ) -> (UInt16, Int)? {
        var length = shortest
        while length <= limit {
            if bits < ends[length] { return (symbols[offsets[length] + Int(bits >> (32 - UInt64(length)))], length) }
            length += 1
        }
        return nil
    }

    /// Decodes a whole string.
    ///
    /// - Returns: false where the string contains EOS, or is padded with anything but the first bits of EOS, or with
    ///   a whole byte of them (RFC 7541 §5.2). The appended bytes then mean nothing.
    func decode(_ bytes: Span<UInt8>, appendingTo output: inout [UInt8]) -> Bool {
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: bytes.count * 8 / Self.shortest))
        var written = output.mutableSpan
        guard let end = decode(bytes, &written, from: start) else { return false }
        output.removeLast(output.count - end)
        return true
    }

    /// - Returns: where the string ends in `output`; nil where it is none.
    private func decode(_ bytes: Span<UInt8>, _ output: inout MutableSpan<UInt8>, from start: Int) -> Int? {
        // The next bits are on the left, `available` of them.
        var bits: UInt64 = 0
        var available = 0
        var index = 0
        var count = start
        let entries = entries.span
        while true {
            while available <= 56, index < bytes.count {
                bits |= UInt64(bytes[index]) << UInt64(56 &- available)
                available &+= 8
                index &+= 1
            }
            // All but the last bits: a code is whole, whatever its length.
            while available >= Self.longest {
                let entry = entries[Int(bits >> UInt64(64 - Self.width))]
                var length = Int(entry.both)
                if length > 0 {
                    output[count] = entry.symbols.0
                    output[count &+ 1] = entry.symbols.1
                    count &+= 2
                } else if entry.first > 0 {
                    output[count] = entry.symbols.0
                    count &+= 1
                    length = Int(entry.first)
                } else {
                    guard let (symbol, itsLength) = longSymbol(bits), symbol != Self.endOfString else { return nil }
                    output[count] = UInt8(truncatingIfNeeded: symbol)
                    count &+= 1
                    length = itsLength
                }
                bits <<= UInt64(length)
                available &-= length
            }
            guard index == bytes.count else { continue }
            return end(bits, available, &output, count)
        }
    }

    /// The last bits of a string, symbol by symbol.
    private func end(_ bits: UInt64, _ available: Int, _ output: inout MutableSpan<UInt8>, _ count: Int) -> Int? {
        var (bits, available, count) = (bits, available, count)
        while let (symbol, length) = longSymbol(bits), length <= available {
            guard symbol != Self.endOfString else { return nil }
            output[count] = UInt8(truncatingIfNeeded: symbol)
            count += 1
            bits <<= UInt64(length)
            available -= length
        }
        let padding = available == 0 ? 0 : ~bits >> UInt64(64 - available)
        return available < 8 && padding == 0 ? count : nil
    }

    private func longSymbol(_ bits: UInt64) -> (UInt16, Int)? {
        Self.symbol(bits >> 32, upTo: Self.longest, symbols, ends, offsets)
    }

    /// Bits of each symbol's code: bytes, and the end of a string.
    private static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28,
        28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11,
        10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8,
        15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5,
        6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
        7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
        23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21,
        23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25,
        26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26,
        28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
    ]
}
