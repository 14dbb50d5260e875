import Testing

@testable import Holdfast

/// A notification, and its packed form byte for byte, as another program (Python) writes it from
/// Docs/Internals/JournalFormat.md. A change of the bytes is a new version of the form.
struct PackedGolden: Sendable, CustomStringConvertible {
    let description: String
    let notification: PushNotification
    var expiration = Expiration.once
    var producer = ""
    var retryOf = UID.none
    var hex = ""

    static let id = NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222)

    /// The bytes that it is packed as.
    var packed: [UInt8] {
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: Self.id, expiration: expiration, acceptedAt: WallTime(milliseconds: 1_700_000_000_123),
            producer: producer, retryOf: retryOf, to: &bytes)
        return bytes
    }

    /// Expects that it is packed as its golden bytes and is read from them.
    ///
    /// - Parameter further: looks at what was read, with the bytes.
    func expectGolden(_ further: (PackedNotification.Fields, [UInt8]) -> Void) throws {
        #expect(Hex.string(packed) == hex)
        // Among others' bytes, so that ranges are not those of an array of its own.
        let bytes = [0xAA, 0xBB] + (Hex.bytes(Array(hex.utf8).span) ?? []) + [0xCC]
        let fields = try PackedNotification.Fields(bytes.span, in: 2..<bytes.count - 1)
        var expected = notification
        (expected.id, expected.expiration) = (Self.id, expiration)
        #expect(PushNotification(fields, in: bytes) == expected)
        #expect(fields.retryOf == retryOf)
        #expect(String(decoding: bytes[fields.producer], as: UTF8.self) == producer)
        try expectKept()
        further(fields, bytes)
    }

    /// Expects that an outcome keeps what all fields say.
    func expectKept() throws {
        let bytes = [0xAA, 0xBB] + packed + [0xCC]
        let fields = try PackedNotification.Fields(bytes.span, in: 2..<bytes.count - 1)
        let read = PackedNotification.OutcomeFields(bytes.span, in: 2..<bytes.count - 1)
        let kept = try #require(read)
        #expect(kept.id == fields.id)
        #expect(kept.acceptedAt == fields.acceptedAt.milliseconds)
        #expect(kept.service == fields.service)
        #expect(kept.isChannel == (fields.isBroadcast && fields.service == nil))
        #expect(kept.address == fields.address)
        #expect(kept.topic == fields.topic)
        #expect(kept.tag == fields.tag)
        #expect(kept.context == fields.context)
        #expect(kept.payload == fields.payload)
    }

    /// Expects that it is none where it says to have a version that does not know its flags.
    func expectNone(inVersion version: UInt8) {
        var bytes = packed
        bytes[0] = version
        #expect(throws: PackedNotification.Damage.malformed) {
            try PackedNotification.Fields(bytes.span, in: 0..<bytes.count)
        }
    }

    /// Expects that it is damage when it is cut, wherever that is.
    func expectDamageWhenCut() {
        let bytes = packed
        for count in 0..<bytes.count {
            #expect(throws: PackedNotification.Damage.self, "\(description), \(count) bytes") {
                try PackedNotification.Fields(bytes.span, in: 0..<count)
            }
            let kept = PackedNotification.OutcomeFields(bytes.span, in: 0..<count)
            #expect(kept == nil, "\(description), \(count) bytes")
        }
    }

    /// Flips some of its bits, and mostly cuts it as well.
    ///
    /// - Parameter use: does with the notification what could trap, where the bytes are still one.
    func flipBits(_ random: inout Xoshiro256, use: (PushNotification) -> Void) {
        var bytes = packed
        if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
        let kept = PackedNotification.OutcomeFields(bytes.span, in: 0..<bytes.count)
        guard let fields = try? PackedNotification.Fields(bytes.span, in: 0..<bytes.count) else { return }
        #expect(fields.payload.upperBound == bytes.count)
        #expect(kept.map(\.payload) == fields.payload)
        use(PushNotification(fields, in: bytes))
    }
}
