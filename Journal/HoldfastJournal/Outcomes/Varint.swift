import HoldfastLMDB

/// Numbers of variable length in blocks of outcomes: seven bits in each byte, the lowest first; the highest bit says that
/// there are more. Signed ones have their sign in the lowest bit.
enum Varint {
    /// The most bytes of one.
    static let longest = 10

    @inline(__always)
    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value &<< 1 ^ value &>> 63) }

    @inline(__always)
    static func signed(_ value: UInt64) -> Int64 { Int64(bitPattern: value &>> 1) ^ -Int64(bitPattern: value & 1) }
}

extension MutableSpan<UInt8> {
    /// Writes a number of variable length, and moves `position` behind it.
    @inline(__always)
    mutating func putVarint(_ value: UInt64, at position: inout Int) {
        var rest = value
        while rest >= 0x80 {
            self[position] = UInt8(truncatingIfNeeded: rest) | 0x80
            position &+= 1
            rest &>>= 7
        }
        self[position] = UInt8(truncatingIfNeeded: rest)
        position &+= 1
    }

    /// The same for a signed number.
    @inline(__always)
    mutating func putSigned(_ value: Int64, at position: inout Int) { putVarint(Varint.zigzag(value), at: &position) }

    /// Copies bytes to `position`, and moves it behind them.
    @inline(__always)
    mutating func put(_ range: Range<Int>, of source: Span<UInt8>, at position: inout Int) {
        copy(range, of: source, to: position)
        position &+= range.count
    }
}

/// A place in bytes that are read front to back. Reading beyond the end gives zeros and is remembered.
struct ByteScanner {
    var position: Int
    let end: Int
    private(set) var isBroken = false

    init(_ range: Range<Int>) { (position, end) = (range.lowerBound, range.upperBound) }

    @inline(__always)
    mutating func byte(_ bytes: Span<UInt8>) -> UInt8 {
        guard position < end else {
            isBroken = true
            return 0
        }
        defer { position &+= 1 }
        return bytes[position]
    }

    mutating func word(_ bytes: Span<UInt8>) -> UInt64 {
        guard end - position >= 8 else {
            isBroken = true
            return 0
        }
        defer { position &+= 8 }
        return bytes.load(UInt64.self, at: position)
    }

    @inline(__always)
    mutating func varint(_ bytes: Span<UInt8>) -> UInt64 {
        let first = byte(bytes)
        return first < 0x80 ? UInt64(first) : longVarint(bytes, UInt64(first & 0x7F))
    }

    private mutating func longVarint(_ bytes: Span<UInt8>, _ start: UInt64) -> UInt64 {
        var value = start
        var shift: UInt64 = 7
        while shift < 70 {
            let next = byte(bytes)
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
        isBroken = true
        return 0
    }

    /// Passes over numbers, up to eight bytes of them in one step.
    @inline(__always)
    mutating func skipVarints(_ count: Int, _ bytes: Span<UInt8>) {
        if end - position >= 8 {
            // The last byte of a number is the one without the highest bit.
            var ends = ~bytes.load(UInt64.self, at: position) & 0x8080_8080_8080_8080
            for _ in 1..<count { ends &= ends &- 1 }
            if ends != 0 {
                position &+= ends.trailingZeroBitCount &>> 3 &+ 1
                return
            }
        }
        for _ in 0..<count { _ = varint(bytes) }
    }

    @inline(__always)
    mutating func signed(_ bytes: Span<UInt8>) -> Int64 { Varint.signed(varint(bytes)) }

    /// The next `count` bytes; an empty range if there are fewer.
    @inline(__always)
    mutating func range(_ count: UInt64) -> Range<Int> {
        guard count <= UInt64(end - position) else {
            isBroken = true
            return position..<position
        }
        defer { position += Int(count) }
        return position..<(position + Int(count))
    }
}
