/// The topics of a route of which its service has taken something, as the journal remembers them: a new process need not see
/// each proven again before it believes that a token is bad.
///
/// Holds for one service. By the topics' hashes, the last that were proven; nothing is written but when a topic is proven for
/// the first time, or goes wrong.
struct ProvenTopics: Hashable, Sendable {
    /// The most that are remembered.
    static let limit = 1000
    private static let version: UInt8 = 1

    /// The oldest first.
    private var hashes: [UInt64] = []
    private var hasNews = false

    /// The name of a route's note in the journal.
    static func noteName(route: String) -> String { "engine/proven-topics/\(route)" }

    init() {}

    /// As ``bytes(service:)`` wrote it; nothing where that was of another service, or can't be read.
    init(_ bytes: [UInt8], service: String) {
        let name = Array(service.utf8)
        let head = 3 + name.count
        guard bytes.count >= head, bytes[0] == Self.version, Int(bytes.span.littleEndian16(at: 1)) == name.count,
            BlacklistScope.isSame(String(decoding: bytes[3..<head], as: UTF8.self), service),
            (bytes.count - head).isMultiple(of: 8)
        else { return }
        hashes = stride(from: head, to: bytes.count, by: 8).map { bytes.span.littleEndian64(at: $0) }
    }

    /// - Parameter service: as ``Connector/serviceIdentity`` names it.
    func bytes(service: String) -> [UInt8] {
        let name = Array(service.utf8.prefix(Int(UInt16.max)))
        var bytes: [UInt8] = [Self.version]
        bytes.appendLittleEndian(UInt16(name.count))
        bytes += name
        for hash in hashes { bytes.appendLittleEndian(hash) }
        return bytes
    }

    func contains(_ hash: UInt64) -> Bool { hashes.contains(hash) }

    mutating func insert(_ hash: UInt64) {
        guard !contains(hash) else { return }
        hashes.append(hash)
        if hashes.count > Self.limit { hashes.removeFirst() }
        hasNews = true
    }

    mutating func remove(_ hash: UInt64) {
        guard let index = hashes.firstIndex(of: hash) else { return }
        hashes.remove(at: index)
        hasNews = true
    }

    /// Whether anything has changed since it was asked for last.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }
}
