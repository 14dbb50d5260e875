import HoldfastLMDB

/// Keys as they lie in the tables: big-endian, so that liblmdb's byte order is the numbers' order.
enum Key {
    static func lane(_ lane: UInt32) -> InlineArray<4, UInt8> {
        var key = InlineArray<4, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(lane.byteSwapped, at: 0)
        return key
    }

    static func producer(_ producer: UInt16) -> InlineArray<2, UInt8> {
        var key = InlineArray<2, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(producer.byteSwapped, at: 0)
        return key
    }

    /// The key of a row of `rejections`, `outcomes` or `identities`.
    static func uid(_ uid: UInt64) -> InlineArray<8, UInt8> {
        var key = InlineArray<8, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(uid.byteSwapped, at: 0)
        return key
    }

    /// The key of a row of `entries` or `deferredIndex`.
    static func entry(_ lane: UInt32, _ uid: UInt64) -> InlineArray<12, UInt8> {
        var key = InlineArray<12, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(lane.byteSwapped, at: 0)
        bytes.store(uid.byteSwapped, at: 4)
        return key
    }

    /// The key of a row of `deferred`. Due times may be negative: the sign bit is flipped so that they sort.
    static func deferred(_ lane: UInt32, due: Int64, _ uid: UInt64) -> InlineArray<20, UInt8> {
        var key = InlineArray<20, UInt8>(repeating: 0)
        var bytes = key.mutableSpan
        bytes.store(lane.byteSwapped, at: 0)
        bytes.store(UInt64(bitPattern: due ^ .min).byteSwapped, at: 4)
        bytes.store(uid.byteSwapped, at: 12)
        return key
    }
}

/// The parts of keys, read where they lie. A key of another length is a fault of ours or damage; it reads as zeros, which
/// no record's own lane and UID match.
extension Span<UInt8> {
    func bigEndian16(at offset: Int) -> UInt16 {
        offset + 2 <= count ? load(UInt16.self, at: offset).byteSwapped : 0
    }

    func bigEndian32(at offset: Int) -> UInt32 {
        offset + 4 <= count ? load(UInt32.self, at: offset).byteSwapped : 0
    }

    func bigEndian64(at offset: Int) -> UInt64 {
        offset + 8 <= count ? load(UInt64.self, at: offset).byteSwapped : 0
    }

    /// The due time in a key of `deferred`.
    var dueTime: Int64 { Int64(bitPattern: bigEndian64(at: 4)) ^ .min }
}
