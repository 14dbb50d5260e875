import Holdfast
import HoldfastLMDB

/// A remembered identity as it lies in `identities`. The checksum's seed is the UID, so that a value under another's key
/// is damage.
///
///     0 u64 XXH64   8 "HFid"   12 u8 version, 1   13 u8 outcome's code, 0 while unconfirmed (see OutcomeCode)
///     14 u16 reason's length   16 u64×2 identity, high half first   32 i64 accepted at   40 reason
struct IdentityRecord: Hashable {
    static let magic: UInt32 = 0x6469_4648  // "HFid"
    static let byteCount = 40

    let identity: Identity
    let acceptedAt: Int64
    let outcome: TerminalOutcome?

    /// Writes the record of an entry just accepted, into ``byteCount`` bytes; or of one that has ended without a reason.
    static func write(
        _ identity: Identity, acceptedAt: Int64, code: UInt8 = 0, uid: UInt64, into output: inout MutableSpan<UInt8>
    ) {
        output.store(magic, at: 8)
        output.store(SmallRecord.version, at: 12)
        output.store(code, at: 13)
        output.store(UInt16(0), at: 14)
        output.store(identity.high, at: 16)
        output.store(identity.low, at: 24)
        output.store(UInt64(bitPattern: acceptedAt), at: 32)
        output.store(XXH64.hash(output.span, from: 8, seed: uid), at: 0)
    }

    /// The record with the reason of a rejection.
    func bytes(uid: UInt64) -> [UInt8] {
        var reason: [UInt8] = []
        if case .rejected(let why) = outcome { reason = SmallRecord.cut(why) }
        var content: [UInt8] = [OutcomeCode.code(of: outcome)]
        content.appendLittleEndian(UInt16(reason.count))
        content.appendLittleEndian(identity.high)
        content.appendLittleEndian(identity.low)
        content.appendLittleEndian(UInt64(bitPattern: acceptedAt))
        content.append(contentsOf: reason)
        return SmallRecord.seal(Self.magic, seed: uid, content)
    }

    init(identity: Identity, acceptedAt: Int64, outcome: TerminalOutcome?) {
        self.identity = identity
        self.acceptedAt = acceptedAt
        self.outcome = outcome
    }

    /// - Returns: nil for damage, which is as good as forgotten.
    init?(_ bytes: Span<UInt8>, uid: UInt64) {
        guard SmallRecord.fault(bytes, Self.magic, seed: uid, atLeast: Self.byteCount) == nil,
            bytes.count == Self.byteCount + Int(bytes.load(UInt16.self, at: 14))
        else { return nil }
        identity = Identity(high: bytes.load(UInt64.self, at: 16), low: bytes.load(UInt64.self, at: 24))
        acceptedAt = Int64(bitPattern: bytes.load(UInt64.self, at: 32))
        outcome = OutcomeCode.outcome(bytes[13], reason: Self.reason(bytes))
    }

    private static func reason(_ bytes: Span<UInt8>) -> Reason {
        var words: [UInt8] = []
        bytes.append(byteCount..<bytes.count, to: &words)
        return Reason(rawValue: String(decoding: words, as: UTF8.self))
    }
}
