import Holdfast
import HoldfastLMDB

/// A block of the table `outcomeLog`: some outcomes, in the order in which they ended. Its key is the number of the first.
///
///     0  u64  XXH64 of everything from 8 to the end
///     8  u8×4 "HFob"
///     12 u8   version, 1
///     13 u8   0
///     14 u16  number of outcomes, 1 or more
///     16 u64  number of the first; the others follow one by one
///     24 i64  the least time of settlement
///     32 i64  the greatest
///     40 u32  length of the block
///     44 u32  0
///     48      the outcomes: see ``OutcomeRow``
///
/// A block has at most ``capacity`` bytes, so that it takes one page and never a run of pages, unless a single outcome needs
/// more; that one has a block of its own. No block has outcomes of two segments.
enum OutcomeBlock {
    static let magic: UInt32 = 0x626F_4648  // "HFob"
    static let version: UInt8 = 1
    static let headerByteCount = 48
    /// The most that a page of 4096 bytes holds.
    static let capacity = 4080
    /// The same of a block that is sealed.
    static let sealedCapacity = capacity - SealedRow.byteCount(0, storedKey: 8)
    /// The most bytes of a block; more is damage.
    static let greatestByteCount = 128 << 10
    /// The number of outcomes of a segment, which has an index of its own.
    static let segmentCount: UInt64 = 1 << 16

    /// The segment of an outcome, by its number, from 1.
    static func segment(of number: UInt64) -> UInt64 { (number &- 1) / segmentCount }

    /// The number of a segment's first outcome.
    static func first(of segment: UInt64) -> UInt64 { segment &* segmentCount &+ 1 }

    /// The length that a block says it has; `nil` if its header is not whole.
    static func byteCount(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + headerByteCount <= bytes.count else { return nil }
        let count = Int(bytes.load(UInt32.self, at: start + 40))
        return (headerByteCount...greatestByteCount).contains(count) ? count : nil
    }
}

/// The header of a block.
struct OutcomeBlockHeader: Hashable, Sendable {
    let first: UInt64
    let count: Int
    let settledFrom: Int64
    let settledTo: Int64

    var last: UInt64 { first &+ UInt64(count) &- 1 }

    /// Reads and checks a block's header, and with it the checksum of the whole.
    ///
    /// - Parameter key: the number that its key says; `nil` if there is no key.
    static func read(_ bytes: Span<UInt8>, key: UInt64? = nil) -> Result<OutcomeBlockHeader, EntryRecord.Fault> {
        guard bytes.count >= OutcomeBlock.headerByteCount, bytes.load(UInt32.self, at: 8) == OutcomeBlock.magic else {
            return .failure(.damaged("it does not begin as such a block does"))
        }
        guard bytes.load(UInt64.self, at: 0) == XXH64.hash(bytes, from: 8) else {
            return .failure(.damaged("its checksum is wrong"))
        }
        guard bytes[12] == OutcomeBlock.version else { return .failure(.newer(bytes[12])) }
        let header = unchecked(bytes)
        guard OutcomeBlock.byteCount(bytes, at: 0) == bytes.count, header.count > 0, header.first > 0,
            header.first <= UInt64.max - UInt64(header.count)
        else { return .failure(.damaged("its lengths do not add up")) }
        guard key ?? header.first == header.first else {
            return .failure(.damaged("it is the block of outcome \(header.first)"))
        }
        guard OutcomeBlock.segment(of: header.first) == OutcomeBlock.segment(of: header.last) else {
            return .failure(.damaged("it has outcomes of two segments"))
        }
        return .success(header)
    }

    /// The header as it stands there.
    ///
    /// - Precondition: there are as many bytes.
    static func unchecked(_ bytes: Span<UInt8>) -> OutcomeBlockHeader {
        OutcomeBlockHeader(
            first: bytes.load(UInt64.self, at: 16), count: Int(bytes.load(UInt16.self, at: 14)),
            settledFrom: Int64(bitPattern: bytes.load(UInt64.self, at: 24)),
            settledTo: Int64(bitPattern: bytes.load(UInt64.self, at: 32)))
    }

    /// Whether one of its outcomes can have been settled within `query`'s times.
    func mayMatch(_ query: OutcomeQuery) -> Bool { query.mayMatch(from: settledFrom, to: settledTo) }
}

extension OutcomeQuery {
    /// Whether something that was settled between two times can match.
    func mayMatch(from: Int64, to: Int64) -> Bool {
        if let since, to < since.milliseconds { return false }
        if let until, from >= until.milliseconds { return false }
        return true
    }
}
