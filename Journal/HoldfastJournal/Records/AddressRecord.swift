import Holdfast
import HoldfastLMDB

/// A blacklist entry of another service's address, as it lies in `addresses`. The checksum's seed is the hash of the key, so
/// that a value under another's key is damage.
///
///     13 u8 route's length   14 u16 reason's length   16 i64 since   24 i64 learnt at   32 u64 number
///     40 u16 topic's length   42 u16 endpoint's length   44 u8 kind of the address
///     45 u8 1 has a topic, 2 has an endpoint, 4 has a status, 8 has the UID of the notification answered, 16 expires
///     46 u16 status   48 u64 UID   56 i64 expires at   64 u16 address's length   66 six zeros
///     72 address · reason · route · topic · endpoint
enum AddressRecord {
    static let magic: UInt32 = 0x6461_4648  // "HFad"
    static let version: UInt8 = 1
    private static let headByteCount = 72

    /// - Parameter key: of the address.
    static func bytes(_ entry: BlacklistEntry, _ address: ServiceAddress, key: [UInt8]) -> [UInt8] {
        let route = entry.route.utf8.prefix(255)
        let reason = SmallRecord.cut(entry.reason)
        var content: [UInt8] = [UInt8(route.count)]
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(UInt64(bitPattern: entry.since.milliseconds))
        content.appendLittleEndian(UInt64(bitPattern: entry.learntAt.milliseconds))
        content.appendLittleEndian(entry.number)
        content.appendLittleEndian(UInt16(entry.topic?.utf8.count ?? 0))
        content.appendLittleEndian(UInt16(entry.endpoint?.utf8.count ?? 0))
        content.append(address.kind.rawValue)
        content.append(TokenRecord.flags(of: entry) | (entry.expiresAt == nil ? 0 : 16))
        content.appendLittleEndian(UInt16(clamping: entry.status ?? 0))
        content.appendLittleEndian(entry.answered?.rawValue ?? 0)
        content.appendLittleEndian(UInt64(bitPattern: entry.expiresAt?.milliseconds ?? 0))
        content.appendLittleEndian(UInt16(address.bytes.count))
        content.append(contentsOf: [UInt8](repeating: 0, count: 6))
        content.append(contentsOf: address.bytes)
        content.append(contentsOf: reason)
        content.append(contentsOf: route)
        if let topic = entry.topic { content.append(contentsOf: topic.utf8) }
        if let endpoint = entry.endpoint { content.append(contentsOf: endpoint.utf8) }
        return SmallRecord.seal(magic, version: version, seed: XXH64.hash(key.span), content)
    }

    /// The length of the record that begins at `start`, by its own word; nil where none begins.
    static func byteCount(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + headByteCount <= bytes.count, bytes.load(UInt32.self, at: start + 8) == magic else { return nil }
        let words = Int(bytes.load(UInt16.self, at: start + 14)) + Int(bytes[start + 13])
        let scope = Int(bytes.load(UInt16.self, at: start + 40)) + Int(bytes.load(UInt16.self, at: start + 42))
        return headByteCount + Int(bytes.load(UInt16.self, at: start + 64)) + words + scope
    }

    /// The address that a record says it is for, unchecked; nil where there can be none.
    static func address(_ bytes: [UInt8]) -> ServiceAddress? {
        guard byteCount(bytes.span, at: 0) == bytes.count else { return nil }
        let end = headByteCount + Int(bytes.span.load(UInt16.self, at: 64))
        do throws(Refusal) {
            return try ServiceAddress(
                ServiceAddress.Kind(rawValue: bytes[44]), bytes: Array(bytes[headByteCount..<end]))
        } catch {
            return nil
        }
    }

    static func read(_ bytes: [UInt8], key: [UInt8]) throws(EntryRecord.Fault) -> BlacklistEntry {
        let span = bytes.span
        let seed = XXH64.hash(key.span)
        if let fault = SmallRecord.fault(span, magic, newest: version, seed: seed, atLeast: headByteCount) {
            throw fault
        }
        guard byteCount(span, at: 0) == bytes.count else { throw .damaged("its lengths do not add up") }
        guard let address = address(bytes) else { throw .damaged("its address is none") }
        let start = headByteCount + address.bytes.count
        let reason = start..<(start + Int(span.load(UInt16.self, at: 14)))
        let route = reason.upperBound..<(reason.upperBound + Int(span[13]))
        var entry = TokenRecord.entry(bytes, .service(address), reason: reason, route: route)
        TokenRecord.readScope(bytes, from: route.upperBound, into: &entry)
        if span[45] & 16 != 0 {
            entry.expiresAt = WallTime(milliseconds: Int64(bitPattern: span.load(UInt64.self, at: 56)))
        }
        return entry
    }

    /// The number that a record says it has, damaged or not.
    static func uncheckedNumber(_ bytes: Span<UInt8>, at start: Int) -> UInt64 {
        guard start + 40 <= bytes.count, bytes.load(UInt32.self, at: start + 8) == magic else { return 0 }
        return bytes.load(UInt64.self, at: start + 32)
    }
}
