/// A request as bytes: a line with the path and the query, and the body behind it.
struct TunnelRequest {
    let resource: String
    let query: String
    let body: [UInt8]

    init(resource: String, query: String, body: [UInt8]) {
        (self.resource, self.query, self.body) = (resource, query, body)
    }

    var bytes: [UInt8] { Array("\(resource)\(query.isEmpty ? "" : "?\(query)")\n".utf8) + body }

    /// - Returns: nil without a line of UTF-8 in front.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let line = String(validating: bytes[..<end], as: UTF8.self)
        else { return nil }
        let path = line.prefix { $0 != "?" }
        self.init(
            resource: String(path), query: String(line.dropFirst(path.count + 1)), body: Array(bytes[(end + 1)...]))
    }
}

/// An answer as bytes: a line with the status of HTTP, and the body behind it.
enum TunnelAnswer {
    static func bytes(_ status: Int, _ body: [UInt8]) -> [UInt8] { Array("\(status)\n".utf8) + body }

    static func read(_ bytes: [UInt8]) throws(ControlError) -> Answer {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end < 10,
            let status = UInt(String(decoding: bytes[..<end], as: UTF8.self))
        else { throw .malformed("what came back is no answer of the control protocol") }
        return Answer(status: status, body: Array(bytes[(end + 1)...]))
    }
}
