/// The place of a notification in a distributed trace: the W3C's *trace context*, of the headers `traceparent` and
/// `tracestate`.
public struct TraceContext: Hashable, Sendable {
    /// One reference, so that a notification without a trace is not much larger for it.
    private let parts: Parts

    private final class Parts: Sendable {
        let traceID: TraceID
        let spanID: UInt64
        let isSampled: Bool
        let tracestate: String

        init(_ traceID: TraceID, _ spanID: UInt64, _ isSampled: Bool, _ tracestate: String) {
            (self.traceID, self.spanID, self.isSampled, self.tracestate) = (traceID, spanID, isSampled, tracestate)
        }
    }

    /// The trace's id, its first and its last eight bytes. Not both are 0.
    package var traceID: TraceID { parts.traceID }
    /// The span that further spans are children of. Not 0.
    package var spanID: UInt64 { parts.spanID }
    /// Whether the trace is recorded. Nothing is kept of one that is not.
    public var isSampled: Bool { parts.isSampled }
    /// What vendors add, as the header has it: `vendor=value,…`; empty for none.
    public var tracestate: String { parts.tracestate }

    /// Whether both say the same.
    public static func == (lhs: TraceContext, rhs: TraceContext) -> Bool {
        lhs.traceID == rhs.traceID && lhs.spanID == rhs.spanID && lhs.isSampled == rhs.isSampled
            && lhs.tracestate == rhs.tracestate
    }

    /// Hashes what it says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(traceID)
        hasher.combine(spanID)
        hasher.combine(isSampled)
        hasher.combine(tracestate)
    }

    package struct TraceID: Hashable, Sendable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
    }

    /// The most bytes of a `tracestate` that are kept; of a longer one the last members are left out.
    static let maximumStateByteCount = 512

    package init(traceID: TraceID, spanID: UInt64, isSampled: Bool, tracestate: String = "") {
        parts = Parts(traceID, spanID, isSampled, tracestate)
    }

    /// Reads the two headers, by the rules of the W3C's recommendation *Trace Context*.
    ///
    /// - Parameter tracestate: passed over if it is malformed.
    /// - Returns: `nil` if `traceparent` is malformed: then there is no trace.
    public init?(traceparent: String, tracestate: String? = nil) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, bytes[2] == Self.hyphen, bytes[35] == Self.hyphen, bytes[52] == Self.hyphen,
            let version = Self.number(bytes[0..<2]), version != 0xFF,
            // A later version may say more behind these fields, and not within them.
            version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == Self.hyphen,
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
            let span = Self.number(bytes[36..<52]), span != 0, let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(
            traceID: TraceID(high: high, low: low), spanID: span, isSampled: flags & 1 != 0,
            tracestate: tracestate.flatMap(Self.state) ?? "")
    }

    /// The header `traceparent`.
    public var traceparent: String {
        "00-\(Self.digits(traceID.high))\(Self.digits(traceID.low))-\(Self.digits(spanID))-\(isSampled ? "01" : "00")"
    }

    // MARK: Digits

    private static let hyphen = UInt8(ascii: "-")

    /// Lower case alone, as the recommendation has it.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    /// Sixteen hexadecimal digits.
    package static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    // MARK: Members

    /// The members that are kept; `nil` if one is malformed or there are more than 32, which makes all of them void.
    private static func state(_ text: String) -> String? {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " || $0 == "\t" } }
            .map { String($0.reversed().drop { $0 == " " || $0 == "\t" }.reversed()) }
            .filter { !$0.isEmpty }
        guard members.count <= 32, members.allSatisfy(isMember) else { return nil }
        var kept = ""
        for member in members {
            let longer = kept.isEmpty ? member : kept + "," + member
            guard longer.utf8.count <= maximumStateByteCount else { break }
            kept = longer
        }
        return kept
    }

    private static func isMember(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let (key, value) = (bytes[..<equals], bytes[(equals + 1)...])
        let isKey = key.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                hyphen,
                UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"):
                true
            default: false
            }
        }
        return isKey && (1...256).contains(key.count) && (1...256).contains(value.count)
            && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",") }
    }
}

/// The form in which records keep it: u8 flags, of which 1 is *sampled* · u64 and u64 trace · u64 span · u16 length of the
/// state, 0 to 512 · the state.
extension TraceContext {
    /// Without the state.
    static let headByteCount = 27

    func append(to output: inout [UInt8]) {
        output.append(isSampled ? 1 : 0)
        output.appendLittleEndian(traceID.high)
        output.appendLittleEndian(traceID.low)
        output.appendLittleEndian(spanID)
        output.appendLittleEndian(UInt16(tracestate.utf8.count))
        output.append(contentsOf: tracestate.utf8)
    }

    /// The length of the one at `position`; `nil` if not even its head is there.
    static func byteCount(in bytes: Span<UInt8>, at position: Int, upTo end: Int) -> Int? {
        guard position + headByteCount <= end else { return nil }
        return headByteCount + Int(bytes.littleEndian16(at: position + 25))
    }

    /// Reads the one in `range`; `nil` if it is not one from the first byte to the last.
    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        guard Self.byteCount(in: bytes, at: range.lowerBound, upTo: range.upperBound) == range.count,
            range.count <= Self.headByteCount + Self.maximumStateByteCount, bytes[range.lowerBound] <= 1
        else { return nil }
        let (start, stateStart) = (range.lowerBound, range.lowerBound + Self.headByteCount)
        let id = TraceID(
            high: bytes.littleEndian64(at: start + 1), low: bytes.littleEndian64(at: start + 9))
        var state: [UInt8] = []
        for index in stateStart..<range.upperBound { state.append(bytes[index]) }
        let span = bytes.littleEndian64(at: start + 17)
        guard id.high | id.low != 0, span != 0, state.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        self.init(
            traceID: id, spanID: span, isSampled: bytes[start] == 1, tracestate: String(decoding: state, as: UTF8.self))
    }
}
