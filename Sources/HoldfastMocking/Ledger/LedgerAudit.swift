import Foundation

/// Reads ledgers of the mock services, and reports which notifications were accepted,
/// which twice, and which are missing.
///
/// A notification is its id together with its recipient, a device token or a broadcast channel: senders may use one id
/// for many devices. The id is the `apns-id`, which stands for a broadcast's `apns-request-id`, too. Over the binary
/// protocol, which has none, it is the payload's own `"id"` or, without one, the payload's digest.
package struct LedgerAudit: Sendable {
    /// A notification that was accepted more than once.
    package struct Duplicate: Hashable, Sendable {
        package let id: String
        /// The device token, in lower case, or the broadcast channel.
        package let recipient: String
        /// The number of times it was accepted; 2 or more.
        package let count: Int
    }

    /// Lines read, one for each acceptance.
    package private(set) var acceptedLines = 0
    /// Invalid lines, as a killed process may leave one behind.
    package private(set) var damagedLines = 0
    private var counts: [Notification: Int] = [:]
    private var ids: Set<ID> = []

    private struct Notification: Hashable {
        let id: ID
        let recipient: Recipient
    }

    private enum Recipient: Hashable {
        /// In lower case.
        case token(String)
        case channel(String)
        /// A target of FCM: `fid:…`.
        case target(String)

        var text: String {
            switch self {
            case .token(let text), .channel(let text), .target(let text): text
            }
        }
    }

    private enum ID: Hashable {
        case uuid(UUID)
        case text(String)

        init(_ text: String) { self = UUID(uuidString: text).map(ID.uuid) ?? .text(text) }

        var text: String {
            switch self {
            case .uuid(let uuid): uuid.uuidString.lowercased()
            case .text(let text): text
            }
        }
    }

    /// Creates an empty audit.
    package init() {}

    /// Creates an audit of these files.
    ///
    /// - Throws: when a file cannot be read.
    package init(paths: [String]) throws {
        for path in paths { try add(path: path) }
    }

    /// Different notifications accepted.
    package var distinctNotifications: Int { counts.count }

    /// Different ids accepted.
    package var distinctIDs: Int { ids.count }

    /// Lines beyond the first of each notification.
    package var duplicateLines: Int { acceptedLines - counts.count }

    /// The notifications accepted more than once, the most frequent first.
    package var duplicates: [Duplicate] {
        counts.filter { $0.value > 1 }
            .map { Duplicate(id: $0.key.id.text, recipient: $0.key.recipient.text, count: $0.value) }
            .sorted { ($1.count, $0.id, $0.recipient) < ($0.count, $1.id, $1.recipient) }
    }

    /// Whether a notification with this id was accepted, for any recipient.
    package func contains(id: String) -> Bool { ids.contains(ID(id)) }

    /// The expected ids that were never accepted, and so are lost; in the order given.
    package func missing(from expected: some Sequence<String>) -> [String] {
        expected.filter { !contains(id: $0) }
    }

    /// The accepted ids that were not expected, UUIDs in lower case, sorted.
    package func unexpected(besides expected: some Sequence<String>) -> [String] {
        ids.subtracting(expected.map { ID($0) }).map(\.text).sorted()
    }

    /// Reads one more ledger, which may be in use.
    ///
    /// - Throws: when the file cannot be read.
    package mutating func add(path: String) throws {
        let file: FileHandle
        do {
            file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw MockError("cannot read the ledger \(path): \(error)")
        }
        defer { try? file.close() }
        var line: [UInt8] = []
        while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
            var rest = [UInt8](chunk)[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(contentsOf: rest[..<end])
                add(line: line)
                line.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            line.append(contentsOf: rest)
            // No line of ours comes near this length; without a limit a file of another kind would be read into memory
            // whole.
            guard line.count <= Self.maximumLineByteCount else { throw MockError("\(path) is not a ledger") }
        }
        if !line.isEmpty { damagedLines += 1 }
    }

    private static let maximumLineByteCount = 1 << 20

    private struct Line: Decodable {
        let apnsID: UUID?
        let id: String?
        let payload: String?
        let token: String?
        let channel: String?
        let target: String?

        enum CodingKeys: String, CodingKey {
            case apnsID = "apns-id"
            case channel, id, payload, target, token
        }

        var recipient: Recipient? {
            token.map { .token($0.lowercased()) } ?? channel.map(Recipient.channel) ?? target.map(Recipient.target)
        }
        var notificationID: ID? { apnsID.map(ID.uuid) ?? id.map { ID($0) } ?? payload.map(ID.text) }
    }

    private mutating func add(line: [UInt8]) {
        guard !line.isEmpty else { return }
        guard let notification = Self.quickly(line) ?? Self.thoroughly(line) else {
            damagedLines += 1
            return
        }
        acceptedLines += 1
        ids.insert(notification.id)
        counts[notification, default: 0] += 1
    }

    private static func thoroughly(_ line: [UInt8]) -> Notification? {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(line)), let id = line.notificationID,
            let recipient = line.recipient
        else { return nil }
        return Notification(id: id, recipient: recipient)
    }

    private static let head = Array(#"{"apns-id":""#.utf8)
    private static let middle = Array(#"","token":""#.utf8)
    private static let tail = Array(#"","topic":""#.utf8)

    /// Parses a line in exactly the mock's form; a JSON decoder takes some twenty times as long.
    private static func quickly(_ line: [UInt8]) -> Notification? {
        let tokenStart = head.count + 36 + middle.count
        guard line.count > tokenStart + tail.count + 2, line.starts(with: head),
            line[(head.count + 36)...].starts(with: middle), line.suffix(2) == [UInt8(ascii: "\""), UInt8(ascii: "}")],
            let id = UUID(uuidString: String(decoding: line[head.count..<head.count + 36], as: UTF8.self)),
            let tokenEnd = line[tokenStart...].firstIndex(of: UInt8(ascii: "\"")),
            line[tokenStart..<tokenEnd].allSatisfy(ASCII.isHexDigit), line[tokenEnd...].starts(with: tail)
        else { return nil }
        let topic = line[(tokenEnd + tail.count)..<(line.count - 2)]
        // A quote or an escape inside the topic, or a line made of two torn ones: the decoder decides.
        guard topic.allSatisfy({ $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20 }) else {
            return nil
        }
        return Notification(
            id: .uuid(id), recipient: .token(String(decoding: line[tokenStart..<tokenEnd], as: UTF8.self).lowercased()))
    }
}
