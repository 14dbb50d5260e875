internal import Holdfast
package import HoldfastHTTP2
internal import HoldfastTransport

extension HTTP2Response {
    private static let relayRefusal = Array(#"{"reason":"\#(RelayMark.refusal)"}"#.utf8)
    private static let greatestWordLength = 40
    private static let mediaTypes: Set<Substring> = [
        "application", "audio", "font", "image", "message", "model", "multipart", "text", "video",
    ]

    /// Who answered, for people: the names of the server and of the proxy that passed it on, the kind of the body, and its
    /// size. Nothing else is repeated: many a server echoes what it was sent.
    package var sender: String {
        var words: [String] = []
        if status == 421, body == Self.relayRefusal {
            words.append("which a gateway of Holdfast answers another, or itself")
        }
        if let server = headers.first(name: "server").flatMap(Self.product) { words.append("server \(server)") }
        if let proxy = headers.first(name: "via").flatMap(Self.passer) { words.append("via \(proxy)") }
        if let type = headers.first(name: "content-type").flatMap(Self.mediaType) { words.append(type) }
        words.append(size)
        return words.joined(separator: ", ")
    }

    private var size: String {
        if body.isEmpty { return "without a body" }
        return "a body of \(isTruncated ? "more than " : "")\(body.count) bytes"
    }

    /// The `nginx` of `nginx/1.25 (Ubuntu)`.
    private static func product(_ header: String) -> String? {
        header.split(whereSeparator: { " /(,;".contains($0) }).first.flatMap(word)
    }

    /// The `proxy.example` of `1.1 proxy.example:3128 (squid)`.
    private static func passer(_ header: String) -> String? {
        let parts = header.split(separator: ",").first?.split(separator: " ") ?? []
        guard parts.count > 1 else { return nil }
        return parts[1].split(separator: ":").first.flatMap(word)
    }

    /// The `text/html` of `text/html; charset=utf-8`.
    private static func mediaType(_ header: String) -> String? {
        let type = header.prefix { $0 != ";" && $0 != " " }
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, mediaTypes.contains(parts[0]), word(parts[1]) != nil else { return nil }
        return String(type)
    }

    private static func word(_ text: Substring) -> String? {
        QuotableText.isWord(text, limit: greatestWordLength, punctuation: "-._+") ? String(text) : nil
    }
}
