import Holdfast
import HoldfastLMDB

/// Hashes of what outcomes are found by, under the journal's own secret, so that nobody can choose tokens or tags that
/// collide.
///
/// The upper 32 bits choose a bucket of the index, the next 16 tell keys of a bucket apart, and the lowest 16 are cut off.
struct OutcomeHash: Sendable {
    private let first: UInt64
    private let second: UInt64

    private enum Seed {
        static let uid: UInt64 = 0x9E37_79B9_7F4A_7C15
        static let id: UInt64 = 0xBF58_476D_1CE4_E5B9
        static let recipient: UInt64 = 0x94D0_49BB_1331_11EB
        static let tag: UInt64 = 0xD6E8_FEB8_6659_FD93
        static let topic: UInt64 = 0xA076_1D64_78BD_642F
        static let producer: UInt64 = 0xE703_7ED1_A0B4_28DB
    }

    init(_ key: IdentityKey) { (first, second) = (key.first, key.second) }

    /// A check value of the secret, kept with the index of a segment: an index made under another secret is not believed.
    var check: UInt32 { UInt32(truncatingIfNeeded: Self.mix(first ^ Seed.topic, second ^ Seed.uid) >> 32) }

    @inline(__always)
    func uid(_ uid: UInt64) -> UInt64 { Self.mix(uid ^ first ^ Seed.uid, second ^ Seed.id) }

    @inline(__always)
    func id(_ high: UInt64, _ low: UInt64) -> UInt64 {
        Self.mix(Self.mix(high ^ first, low ^ second) ^ Seed.id, second ^ Seed.recipient)
    }

    /// - Parameters:
    ///   - kind: of recipient (``OutcomeRow/Kind``).
    ///   - service: of another service's address its kind, else 0.
    @inline(__always)
    func recipient(_ bytes: Span<UInt8>, _ range: Range<Int>, kind: UInt8, service: UInt8) -> UInt64 {
        hash(bytes, range, Seed.recipient ^ UInt64(kind) << 8 ^ UInt64(service))
    }

    func tag(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64 { hash(bytes, range, Seed.tag) }

    func topic(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64 { hash(bytes, range, Seed.topic) }

    func producer(_ producer: UInt16) -> UInt64 { Self.mix(UInt64(producer) ^ first, second ^ Seed.producer) }

    /// Sixteen bytes at a time, since a token's hash is most of what its index costs.
    @inline(__always)
    private func hash(_ bytes: Span<UInt8>, _ range: Range<Int>, _ seed: UInt64) -> UInt64 {
        var state = first ^ seed ^ UInt64(range.count) &* Seed.uid
        var position = range.lowerBound
        while range.upperBound - position >= 16 {
            state = Self.mix(
                bytes.load(UInt64.self, at: position) ^ state, bytes.load(UInt64.self, at: position + 8) ^ second)
            position += 16
        }
        if position == range.upperBound { return state }
        var rest: (low: UInt64, high: UInt64) = (0, 0)
        for index in position..<range.upperBound {
            let shift = UInt64(index - position) &* 8
            if shift < 64 {
                rest.low |= UInt64(bytes[index]) << shift
            } else {
                rest.high |= UInt64(bytes[index]) << (shift - 64)
            }
        }
        return Self.mix(rest.low ^ state, rest.high ^ second)
    }

    @inline(__always)
    private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right | 1)
        let folded = product.high ^ product.low
        return (folded ^ folded &>> 29) &* 0xBF58_476D_1CE4_E5B9
    }
}
