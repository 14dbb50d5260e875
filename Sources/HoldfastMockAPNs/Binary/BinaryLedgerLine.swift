/// One line of the ledger of a ``MockBinaryServer``:
/// `{"id":"…","token":"…","identifier":7,"payload":"…"}` and a line end.
///
/// `id` is the payload's own (``MockBinaryNotification/payloadID``), left out where it has none; `payload` is its digest.
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
        lines += PayloadMark.digest(of: payload)
        lines += Array("\"}\n".utf8)
    }
}
