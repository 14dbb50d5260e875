internal import Holdfast

/// A row of the blacklist as it lies in the database.
///
/// - A recipient is the kind of its address, 0 for a device token, and its bytes.
/// - A scope is 1 for a topic plus 2 for an endpoint; the length of the topic as an u32, the topic, and the endpoint.
/// - An entry is the version 1; 1 for a status plus 2 for the UID that was answered; the time at which it was learnt, the
///   status and the UID as u64; the length of the reason as an u32, the reason, and the route.
///
/// Numbers are big-endian. `since` and the end are columns of their own, for the database compares them.
package enum SharedRow {
    /// The end of an entry that has none.
    static let never = Int64.max

    static func recipient(_ recipient: Recipient) -> [UInt8] {
        [recipient.serviceAddress?.kind.rawValue ?? 0] + recipient.address
    }

    static func scope(_ scope: BlacklistScope) -> [UInt8] {
        var bytes: [UInt8] = [(scope.topic == nil ? 0 : 1) | (scope.endpoint == nil ? 0 : 2)]
        bytes.appendWord(scope.topic ?? "")
        bytes += (scope.endpoint ?? "").utf8
        return bytes
    }

    static func expires(_ entry: BlacklistEntry) -> Int64 { entry.expiresAt?.milliseconds ?? never }

    static func entry(_ entry: BlacklistEntry) -> [UInt8] {
        var bytes: [UInt8] = [1, (entry.status == nil ? 0 : 1) | (entry.answered == nil ? 0 : 2)]
        bytes.appendNumber(UInt64(bitPattern: entry.learntAt.milliseconds))
        bytes.appendNumber(UInt64(bitPattern: Int64(entry.status ?? 0)))
        bytes.appendNumber(entry.answered?.rawValue ?? 0)
        bytes.appendWord(entry.reason.rawValue)
        bytes += entry.route.utf8
        return bytes
    }
}

extension SharedRow {
    /// The columns of a row that was read.
    package struct Columns: Sendable {
        var number: Int64
        var recipient: [UInt8]
        var scope: [UInt8]
        var since: Int64
        var expires: Int64
        var entry: [UInt8]?
    }

    /// - Returns: nil for a row of another form, such as a newer program may write.
    static func read(_ columns: Columns) -> BlacklistRow? {
        guard let recipient = recipient(columns.recipient), let scope = scope(columns.scope) else { return nil }
        let key = BlacklistKey(recipient, scope)
        guard let bytes = columns.entry else { return BlacklistRow(key, nil) }
        var reader = Reader(bytes)
        guard reader.byte() == 1, let flags = reader.byte(), let learnt = reader.number(), let status = reader.number(),
            let answered = reader.number(), let reason = reader.word()
        else { return nil }
        let end = columns.expires == never ? nil : WallTime(milliseconds: columns.expires)
        return BlacklistRow(
            key,
            BlacklistEntry(
                recipient: recipient, reason: Reason(rawValue: reason), since: WallTime(milliseconds: columns.since),
                learntAt: WallTime(milliseconds: Int64(bitPattern: learnt)), route: reader.rest(), topic: scope.topic,
                endpoint: scope.endpoint, status: flags & 1 == 0 ? nil : Int(truncatingIfNeeded: status),
                answered: flags & 2 == 0 ? nil : UID(answered), number: UInt64(clamping: columns.number),
                expiresAt: end))
    }

    private static func recipient(_ bytes: [UInt8]) -> Recipient? {
        guard let kind = bytes.first else { return nil }
        let address = Array(bytes.dropFirst())
        if kind == 0 { return DeviceToken(bytes: address).map { .device($0) } }
        do throws(Refusal) {
            return .service(try ServiceAddress(ServiceAddress.Kind(rawValue: kind), bytes: address))
        } catch {
            return nil
        }
    }

    private static func scope(_ bytes: [UInt8]) -> BlacklistScope? {
        var reader = Reader(bytes)
        guard let flags = reader.byte(), let topic = reader.word() else { return nil }
        let endpoint = reader.rest()
        return BlacklistScope(topic: flags & 1 == 0 ? nil : topic, endpoint: flags & 2 == 0 ? nil : endpoint)
    }

    private struct Reader {
        private var bytes: ArraySlice<UInt8>

        init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

        mutating func byte() -> UInt8? { bytes.popFirst() }

        mutating func number(_ count: Int = 8) -> UInt64? {
            guard bytes.count >= count else { return nil }
            defer { bytes.removeFirst(count) }
            return bytes.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func word() -> String? {
            guard let count = number(4), count <= bytes.count else { return nil }
            defer { bytes.removeFirst(Int(count)) }
            return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
        }

        func rest() -> String { String(decoding: bytes, as: UTF8.self) }
    }
}

extension [UInt8] {
    fileprivate mutating func appendNumber(_ number: UInt64, count: Int = 8) {
        for shift in stride(from: UInt64(count - 1) * 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    fileprivate mutating func appendWord(_ word: String) {
        appendNumber(UInt64(word.utf8.count), count: 4)
        append(contentsOf: word.utf8)
    }
}
