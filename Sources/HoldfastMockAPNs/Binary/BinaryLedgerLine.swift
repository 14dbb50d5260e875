import HoldfastMocking

/// Writes one line of the ledger of a ``MockBinaryServer``:
/// `{"id":"…","token":"…","identifier":7,"payload":"…"}` and a line end.
///
/// `id` is the payload's own (``MockBinaryNotification/payloadID``), left out where it has none; `payload` is its digest, 16 hex digits.
enum BinaryLedgerLine {
    static func append(
        token: Span<UInt8>, identifier: UInt32, payload: Span<UInt8>, to lines: inout [UInt8]
    ) {
        lines.append(UInt8(ascii: "{"))
        if let id = PayloadMark.id(in: payload) {
            lines += Array(#""id":""#.utf8)
            for index in id { lines.append(payload[index]) }
            lines += Array(#"","#.utf8)
        }
        lines += Array(#""token":""#.utf8)
        for index in token.indices {
            lines.append(ASCII.hexDigit(token[index] >> 4))
            lines.append(ASCII.hexDigit(token[index] & 15))
        }
        lines += Array(#"","identifier":\#(identifier),"payload":""#.utf8)
        let digest = PayloadMark.digest(of: payload)
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            lines.append(ASCII.hexDigit(UInt8(truncatingIfNeeded: digest >> shift) & 15))
        }
        lines += Array("\"}\n".utf8)
    }
}
