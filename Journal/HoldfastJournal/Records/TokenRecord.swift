import Holdfast
import HoldfastLMDB

/// A blacklist entry as it lies in `tokens`. The checksum's seed is the hash of the token, so that a value under another
/// token's key is damage.
///
///     13 u8 route's length   14 u16 reason's length   16 i64 since   24 i64 learnt at   32 u64 number
///     40 u16 topic's length   42 u16 endpoint's length   44 u8 token's length
///     45 u8 1 has a topic, 2 has an endpoint, 4 has a status, 8 has the UID of the notification answered
///     46 u16 status   48 u64 UID   56 token · reason · route · topic · endpoint
///
/// Version 2 ends with 40 u8 topic's length and 41 reason · route · topic. It holds for every service. What holds for every
/// topic and service, and answered no notification, is still written as version 2: programs of format 1 understand it.
/// Version 1 has neither number nor topic: the reason lies at 32.
enum TokenRecord {
    static let magic: UInt32 = 0x6B74_4648  // "HFtk"
    static let version: UInt8 = 3
    private static let headByteCount = 56

    /// Whether programs of format 1 understand it, as long as it is the token's only one.
    static func isOfFormat1(_ entry: BlacklistEntry) -> Bool {
        entry.token != nil && entry.topic == nil && entry.endpoint == nil && entry.status == nil
            && entry.answered == nil
    }

    static func bytes(_ entry: BlacklistEntry, _ token: DeviceToken) -> [UInt8] {
        let route = entry.route.utf8.prefix(255)
        let reason = SmallRecord.cut(entry.reason)
        let isOld = isOfFormat1(entry)
        var content: [UInt8] = [UInt8(route.count)]
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(UInt64(bitPattern: entry.since.milliseconds))
        content.appendLittleEndian(UInt64(bitPattern: entry.learntAt.milliseconds))
        content.appendLittleEndian(entry.number)
        if isOld { content.append(0) } else { content.appendScope(of: entry, token) }
        content.append(contentsOf: reason)
        content.append(contentsOf: route)
        if let topic = entry.topic { content.append(contentsOf: topic.utf8) }
        if let endpoint = entry.endpoint { content.append(contentsOf: endpoint.utf8) }
        return SmallRecord.seal(
            magic, version: isOld ? 2 : version, seed: XXH64.hash(token.bytes.span), content)
    }

    /// The length of the record that begins at `start`, by its own word; nil where none begins.
    static func byteCount(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + 41 <= bytes.count, bytes.load(UInt32.self, at: start + 8) == magic else { return nil }
        let words = Int(bytes.load(UInt16.self, at: start + 14)) + Int(bytes[start + 13])
        switch bytes[start + 12] {
        case 1: return 32 + words
        case 2: return 41 + words + Int(bytes[start + 40])
        default:
            guard start + headByteCount <= bytes.count else { return nil }
            let scope = Int(bytes.load(UInt16.self, at: start + 40)) + Int(bytes.load(UInt16.self, at: start + 42))
            return headByteCount + Int(bytes[start + 44]) + words + scope
        }
    }

    /// The token of a record of version 3; nil where an older one begins, which has none.
    static func token(_ bytes: Span<UInt8>) -> DeviceToken? {
        guard bytes.count >= headByteCount, bytes[12] > 2, bytes.count >= headByteCount + Int(bytes[44]) else {
            return nil
        }
        return DeviceToken(bytes: bytes.extracting(headByteCount..<(headByteCount + Int(bytes[44]))).array)
    }

    static func read(_ bytes: [UInt8], token: DeviceToken) throws(EntryRecord.Fault) -> BlacklistEntry {
        let span = bytes.span
        let seed = XXH64.hash(token.bytes.span)
        if let fault = SmallRecord.fault(span, magic, newest: version, seed: seed, atLeast: 32) { throw fault }
        if span[12] > 2 { return try readScoped(bytes, token: token) }
        let isNumbered = span[12] > 1
        if isNumbered, span.count < 41 { throw .damaged("it is too short") }
        let start = isNumbered ? 41 : 32
        let reason = start..<(start + Int(span.load(UInt16.self, at: 14)))
        let route = reason.upperBound..<(reason.upperBound + Int(span[13]))
        let topic = route.upperBound..<(route.upperBound + (isNumbered ? Int(span[40]) : 0))
        guard topic.upperBound == bytes.count else { throw .damaged("its lengths do not add up") }
        var entry = entry(bytes, .device(token), reason: reason, route: route)
        entry.topic = topic.isEmpty ? nil : String(decoding: bytes[topic], as: UTF8.self)
        entry.number = isNumbered ? span.load(UInt64.self, at: 32) : 0
        return entry
    }

    private static func readScoped(_ bytes: [UInt8], token: DeviceToken) throws(EntryRecord.Fault) -> BlacklistEntry {
        let span = bytes.span
        guard byteCount(span, at: 0) == bytes.count else { throw .damaged("its lengths do not add up") }
        guard Self.token(span) == token else { throw .damaged("it is another token's") }
        let start = headByteCount + Int(span[44])
        let reason = start..<(start + Int(span.load(UInt16.self, at: 14)))
        let route = reason.upperBound..<(reason.upperBound + Int(span[13]))
        var entry = entry(bytes, .device(token), reason: reason, route: route)
        readScope(bytes, from: route.upperBound, into: &entry)
        return entry
    }

    /// The fields from 32 on that records of tokens and of addresses have in the same places.
    ///
    /// - Parameter start: of the topic.
    static func readScope(_ bytes: [UInt8], from start: Int, into entry: inout BlacklistEntry) {
        let span = bytes.span
        let topic = start..<(start + Int(span.load(UInt16.self, at: 40)))
        entry.number = span.load(UInt64.self, at: 32)
        let flags = span[45]
        if flags & 1 != 0 { entry.topic = String(decoding: bytes[topic], as: UTF8.self) }
        if flags & 2 != 0 { entry.endpoint = String(decoding: bytes[topic.upperBound...], as: UTF8.self) }
        if flags & 4 != 0 { entry.status = Int(span.load(UInt16.self, at: 46)) }
        if flags & 8 != 0 { entry.answered = UID(span.load(UInt64.self, at: 48)) }
    }

    /// The fields in front, which both kinds of records have.
    static func entry(
        _ bytes: [UInt8], _ recipient: Recipient, reason: Range<Int>, route: Range<Int>
    ) -> BlacklistEntry {
        BlacklistEntry(
            recipient: recipient, reason: Reason(rawValue: String(decoding: bytes[reason], as: UTF8.self)),
            since: WallTime(milliseconds: Int64(bitPattern: bytes.span.load(UInt64.self, at: 16))),
            learntAt: WallTime(milliseconds: Int64(bitPattern: bytes.span.load(UInt64.self, at: 24))),
            route: String(decoding: bytes[route], as: UTF8.self))
    }

    static func flags(of entry: BlacklistEntry) -> UInt8 {
        var flags: UInt8 = 0
        if entry.topic != nil { flags |= 1 }
        if entry.endpoint != nil { flags |= 2 }
        if entry.status != nil { flags |= 4 }
        if entry.answered != nil { flags |= 8 }
        return flags
    }

    /// The number that a record says it has, damaged or not.
    static func uncheckedNumber(_ bytes: Span<UInt8>, at start: Int) -> UInt64 {
        guard start + 41 <= bytes.count, bytes.load(UInt32.self, at: start + 8) == magic, bytes[start + 12] > 1 else {
            return 0
        }
        return bytes.load(UInt64.self, at: start + 32)
    }
}

extension [UInt8] {
    /// Appends the bytes of a record of version 3 from 40 up to the reason.
    fileprivate mutating func appendScope(of entry: BlacklistEntry, _ token: DeviceToken) {
        appendLittleEndian(UInt16(entry.topic?.utf8.count ?? 0))
        appendLittleEndian(UInt16(entry.endpoint?.utf8.count ?? 0))
        append(UInt8(token.bytes.count))
        append(TokenRecord.flags(of: entry))
        appendLittleEndian(UInt16(clamping: entry.status ?? 0))
        appendLittleEndian(entry.answered?.rawValue ?? 0)
        append(contentsOf: token.bytes)
    }
}
