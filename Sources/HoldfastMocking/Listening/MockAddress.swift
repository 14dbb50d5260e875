/// A listening address of a server: `127.0.0.2:8443`, `[::1]:8443`.
public struct MockAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address, without brackets.
    public let host: String
    /// The TCP port.
    public let port: Int
    /// Whether channels are managed there, and notifications not taken.
    public let isManagement: Bool

    package init(host: String, port: Int, isManagement: Bool = false) {
        self.host = host
        self.port = port
        self.isManagement = isManagement
    }

    /// Host and port, as in a URL.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether `text` names this address: a host alone means all ports, `management` the address for channel
    /// management.
    package func isMeant(by text: String) -> Bool {
        text == host || text == "[\(host)]" || text == description || isManagement && text == "management"
    }

    /// Parses `HOST`, `HOST:PORT` and `[HOST]:PORT`.
    ///
    /// - Returns: a nil port where there is none; nil where the text has none of these forms.
    package static func parse(_ text: String) -> (host: String, port: Int?)? {
        guard !text.isEmpty else { return nil }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            guard !rest.isEmpty else { return (host, nil) }
            guard rest.hasPrefix(":"), let port = Int(rest.dropFirst()) else { return nil }
            return (host, port)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return (text, nil)
        case 2: return Int(parts[1]).map { (String(parts[0]), $0) }
        default: return (text, nil)
        }
    }
}
