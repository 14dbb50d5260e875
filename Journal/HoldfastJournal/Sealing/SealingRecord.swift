import Holdfast
import HoldfastLMDB

/// The ids of the keys that the rows of a file may be sealed with, the one that seals first, as they lie in `facts`.
///
///     13 u8 0   14 u16 number of ids   16 u64 each
struct SealingRecord: Equatable {
    static let magic: UInt32 = 0x6C73_4648  // "HFsl"
    static let key = Array("sealing".utf8)
    /// The format of a sealed journal.
    static let format: UInt32 = 4
    /// Where the blacklist has the key that hides its recipients, sealed.
    static let indexKey = Array("index".utf8)

    var ids: [SealKeyID]

    init(_ ids: [SealKeyID]) { self.ids = ids }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, atLeast: 24) { throw fault }
        let count = Int(span.load(UInt16.self, at: 14))
        guard count > 0, bytes.count == 16 + 8 * count else { throw .damaged("its lengths do not add up") }
        ids = (0..<count).map { SealKeyID(rawValue: span.load(UInt64.self, at: 16 + 8 * $0)) }
    }

    var bytes: [UInt8] {
        var content: [UInt8] = [0]
        content.appendLittleEndian(UInt16(ids.count))
        for id in ids { content.appendLittleEndian(id.rawValue) }
        return SmallRecord.seal(Self.magic, content)
    }

    /// The same with a key before the others.
    func putting(_ id: SealKeyID) -> SealingRecord { SealingRecord([id] + ids.filter { $0 != id }) }
}
