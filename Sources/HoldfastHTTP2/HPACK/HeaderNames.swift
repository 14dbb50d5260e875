/// Names of header fields that are told apart by a number, so that no text is compared for each field of each message.
///
/// The names that HTTP/2 reads itself come first, then those of the messages' reader. A literal name is looked up; the
/// number of a name from a table comes with it.
package struct HeaderNames: Sendable {
    /// The number of a name; ``unknown`` for all that nobody asked for.
    typealias Code = UInt8

    static let unknown: Code = 0

    /// Names that HTTP/2 looks at itself.
    enum Own: Code, CaseIterable {
        case method = 1
        case scheme, path, authority, status, contentLength, te
        case connection, keepAlive, proxyConnection, transferEncoding, upgrade

        var name: String {
            switch self {
            case .method: ":method"
            case .scheme: ":scheme"
            case .path: ":path"
            case .authority: ":authority"
            case .status: ":status"
            case .contentLength: "content-length"
            case .te: "te"
            case .connection: "connection"
            case .keepAlive: "keep-alive"
            case .proxyConnection: "proxy-connection"
            case .transferEncoding: "transfer-encoding"
            case .upgrade: "upgrade"
            }
        }
    }

    /// The first number that is the reader's.
    static let firstOfReader = Code(Own.allCases.count + 1)

    /// The names of each length.
    private let byLength: [[(name: [UInt8], code: Code)]]
    /// The fields that blocks name by index (RFC 7541 appendix A), with their numbers.
    let fixed: HeaderList

    /// - Parameter names: lower case, at most 200, none of HTTP/2's own (``Own``).
    package init(_ names: [String]) {
        precondition(names.count <= 200, "more names than have numbers")
        var byLength: [[(name: [UInt8], code: Code)]] = []
        let own = Own.allCases.map { ($0.name, $0.rawValue) }
        let readers = names.enumerated().map { ($1, Self.firstOfReader + Code($0)) }
        for (name, code) in own + readers {
            let name = Array(name.utf8)
            while byLength.count <= name.count { byLength.append([]) }
            byLength[name.count].append((name, code))
        }
        self.byLength = byLength
        var fixed = HeaderList()
        for (name, value) in HPACKTable.standard {
            let (name, value) = (Array(name.utf8), Array(value.utf8))
            let start = fixed.bytes.count
            fixed.appendBytes(name.span)
            fixed.appendBytes(value.span)
            fixed.endField(from: start, nameCount: name.count, Self.code(of: name.span, in: byLength))
        }
        self.fixed = fixed
    }

    /// No names: for readers that look at text.
    package static let none = HeaderNames([])

    func code(of name: Span<UInt8>) -> Code { Self.code(of: name, in: byLength) }

    private static func code(of name: Span<UInt8>, in byLength: [[(name: [UInt8], code: Code)]]) -> Code {
        guard name.count < byLength.count else { return unknown }
        return byLength[name.count].first { name.has($0.name, at: 0) }?.code ?? unknown
    }
}
