import Holdfast
import HoldfastLMDB

/// The optional fields of an outcome, behind the others:
///
///     u8      1 a cause · 2 a context · 4 an apns-unique-id · 8 the payload; then those, in this order:
///     cause   u8 1 a status, 2 a timestamp · number status · signed timestamp · signed time from the rejection to the
///             settlement · number length and reason
///     others  number length and bytes
struct OutcomeExtras: Sendable {
    var cause: RejectionCause?
    var context: [UInt8] = []
    var uniqueID: [UInt8] = []
    var payload: [UInt8] = []

    /// The most bytes of an apns-unique-id that are kept.
    static let longestUniqueID = 255

    /// - Returns: empty when there is nothing.
    func bytes(settledAt: Int64) -> [UInt8] {
        let flags: UInt8 =
            (cause == nil ? 0 : 1) | (context.isEmpty ? 0 : 2) | (uniqueID.isEmpty ? 0 : 4) | (payload.isEmpty ? 0 : 8)
        guard flags != 0 else { return [] }
        let reason = cause.map { cause in SmallRecord.cut(cause.reason) } ?? []
        let uniqueID = Array(uniqueID.prefix(Self.longestUniqueID))
        let greatest = reason.count + context.count + uniqueID.count + payload.count + 8 * Varint.longest
        var bytes = [UInt8](repeating: 0, count: greatest)
        var output = bytes.mutableSpan
        var position = 1
        output[0] = flags
        if let cause {
            output[1] = (cause.status == nil ? 0 : 1) | (cause.timestamp == nil ? 0 : 2)
            position = 2
            if let status = cause.status { output.putVarint(UInt64(UInt16(clamping: status)), at: &position) }
            if let timestamp = cause.timestamp { output.putSigned(timestamp.milliseconds, at: &position) }
            output.putSigned(settledAt &- cause.rejectedAt.milliseconds, at: &position)
            output.putVarint(UInt64(reason.count), at: &position)
            output.put(0..<reason.count, of: reason.span, at: &position)
        }
        for part in [context, uniqueID, payload] where !part.isEmpty {
            output.putVarint(UInt64(part.count), at: &position)
            output.put(0..<part.count, of: part.span, at: &position)
        }
        bytes.removeLast(greatest - position)
        return bytes
    }

    init(
        cause: RejectionCause? = nil, context: [UInt8] = [], uniqueID: [UInt8] = [], payload: [UInt8] = []
    ) {
        self.cause = cause
        self.context = context
        self.uniqueID = uniqueID
        self.payload = payload
    }

    /// - Returns: nil for bytes that make no sense.
    init?(_ bytes: Span<UInt8>, in range: Range<Int>, settledAt: Int64) {
        var scanner = ByteScanner(range)
        guard !range.isEmpty else { return }
        let flags = scanner.byte(bytes)
        if flags & 1 != 0 { cause = Self.cause(bytes, &scanner, settledAt: settledAt) }
        if flags & 2 != 0 { context = bytes.extracting(scanner.range(scanner.varint(bytes))).array }
        if flags & 4 != 0 { uniqueID = bytes.extracting(scanner.range(scanner.varint(bytes))).array }
        if flags & 8 != 0 { payload = bytes.extracting(scanner.range(scanner.varint(bytes))).array }
        // Bits of a later version have their bytes behind these.
        if scanner.isBroken { return nil }
    }

    private static func cause(
        _ bytes: Span<UInt8>, _ scanner: inout ByteScanner, settledAt: Int64
    ) -> RejectionCause {
        let flags = scanner.byte(bytes)
        let status = flags & 1 == 0 ? nil : Int(UInt16(clamping: scanner.varint(bytes)))
        let timestamp = flags & 2 == 0 ? nil : WallTime(milliseconds: scanner.signed(bytes))
        let rejectedAt = WallTime(milliseconds: settledAt &- scanner.signed(bytes))
        let reason = bytes.extracting(scanner.range(scanner.varint(bytes))).array
        return RejectionCause(
            reason: Reason(rawValue: String(decoding: reason, as: UTF8.self)), status: status, timestamp: timestamp,
            rejectedAt: rejectedAt)
    }
}
