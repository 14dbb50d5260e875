internal import Holdfast
internal import HoldfastHTTP2

extension SendResult {
    /// Recognizes an answer that is not in Apple's form, and says who gave it.
    ///
    /// Apple answers success with no body, and errors with a JSON `reason`. A success with a body (which nobody has seen from
    /// Apple so far) must name the notification in its header and be JSON; any other is a portal's or a proxy's.
    mutating func look(at response: HTTP2Response) {
        if response.status == 200, !response.body.isEmpty,
            !response.namesNotification || !ErrorBody.isObject(response.body)
        {
            verdict = .foreign
        }
        guard verdict == .foreign else { return }
        detail = response.sender
    }
}

extension HTTP2Response {
    /// Whether it has the id that Apple's answers have: the notification's, or the broadcast's request's.
    fileprivate var namesNotification: Bool {
        headers.first(name: "apns-id") != nil || headers.first(name: "apns-request-id") != nil
    }

    /// Who answered, for people: the server's name, the kind of the body, and how it begins. Printable ASCII only.
    var sender: String {
        var words: [String] = []
        if let server = headers.first(name: "server") { words.append("server \(Self.printable(server.utf8, 60))") }
        if let type = headers.first(name: "content-type") { words.append(Self.printable(type.utf8, 60)) }
        words.append(body.isEmpty ? "without a body" : "\"\(Self.printable(body, 80))\"")
        return words.joined(separator: ", ")
    }

    private static func printable(_ bytes: some Sequence<UInt8>, _ limit: Int) -> String {
        let text = bytes.prefix(limit).map { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") ? $0 : 0x20 }
        return String(decoding: text, as: UTF8.self).split(separator: " ").joined(separator: " ")
    }
}
