import HoldfastMocking

/// Tells notifications of the binary protocol apart in a ledger, since they carry no `apns-id`.
package enum PayloadMark {
    /// A digest of a payload, the same in every process. It tells test data apart; it is not cryptographic.
    package static func digest(of payload: Span<UInt8>) -> UInt64 {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(payload.count)
        var index = 0
        while index < payload.count {
            var word: UInt64 = 0
            let end = min(index + 8, payload.count)
            while index < end {
                word = word << 8 | UInt64(payload[index])
                index += 1
            }
            state = mix(state ^ word)
        }
        return state
    }

    /// Steele, Lea and Flood's finalizer.
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The range of the payload's own member `"id"`: the inside of a string, or a number. Nil where the payload has
    /// none, or is not JSON up to it.
    static func id(in payload: Span<UInt8>) -> Range<Int>? {
        var depth = 0
        var index = 0
        var isName = false
        while index < payload.count {
            switch payload[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isName = payload[index] == UInt8(ascii: "{")
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","): isName = true
            case UInt8(ascii: ":"): isName = false
            case UInt8(ascii: "\""):
                guard let string = string(in: payload, from: index) else { return nil }
                index = string.upperBound
                if depth == 1, isName, string.count == 2, payload[string.lowerBound] == UInt8(ascii: "i"),
                    payload[string.lowerBound + 1] == UInt8(ascii: "d")
                {
                    return value(in: payload, from: index + 1)
                }
            default: break
            }
            index += 1
        }
        return nil
    }

    /// The inside of the string whose first quote is at `start`.
    private static func string(in payload: Span<UInt8>, from start: Int) -> Range<Int>? {
        var index = start + 1
        while index < payload.count {
            switch payload[index] {
            case UInt8(ascii: "\""): return start + 1..<index
            case UInt8(ascii: "\\"): index += 2
            // A line end would break the ledger's line, too.
            case 0..<0x20: return nil
            default: index += 1
            }
        }
        return nil
    }

    private static func value(in payload: Span<UInt8>, from start: Int) -> Range<Int>? {
        var index = start
        while index < payload.count, payload[index] == UInt8(ascii: ":") || payload[index] == UInt8(ascii: " ") {
            index += 1
        }
        guard index < payload.count else { return nil }
        if payload[index] == UInt8(ascii: "\"") { return string(in: payload, from: index) }
        var end = index
        while end < payload.count, ASCII.isDigit(payload[end]) || payload[end] == UInt8(ascii: "-") { end += 1 }
        return end > index ? index..<end : nil
    }
}
