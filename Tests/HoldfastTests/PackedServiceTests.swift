import Testing

@testable import Holdfast

@Suite("A packed notification for another service than Apple's")
struct PackedServiceTests {
    private static func notification(
        _ kind: ServiceAddress.Kind, _ address: String, _ payload: [UInt8] = Array("{}".utf8),
        _ payloadKind: PayloadKind = .json
    ) -> PushNotification {
        notification(ServiceAddress(checked: kind, Array(address.utf8)), payload, payloadKind)
    }

    private static func notification(
        _ address: ServiceAddress, _ payload: [UInt8], _ payloadKind: PayloadKind
    ) -> PushNotification {
        PushNotification(address: address, topic: "com.example.app", payload: payload, payloadKind: payloadKind)
    }

    static let goldens: [PackedGolden] = {
        var urgent = notification(.firebaseInstallation, "cXy1")
        urgent.priority = .immediate
        var full = notification(.firebaseToken, "tok:en")
        (full.priority, full.collapseID, full.tag) = (.considerate, "col", [9, 8, 7])
        (full.guarantee, full.tokenRegisteredAt) = (.atMostOnce, WallTime(milliseconds: 1_600_000_000_321))
        return [
            PackedGolden(
                description: "an installation, of which the service is told no expiration", notification: urgent,
                expiration: .unstated(until: 1_900_000_000),
                hex: "05c00a0000000f0002000000000000001111111111111111222222222222222200b33f710000000000000000"
                    + "000000007b68e5cf8b010000040001000000000063587931636f6d2e6578616d706c652e6170707b7d"),
            PackedGolden(
                description: "a token, with every field and as a retry", notification: full,
                expiration: .at(1_900_000_000), producer: "news", retryOf: UID(0x0102_0304_0506_0708),
                hex: "058f050000030f0002000000030004001111111111111111222222222222222200b33f710000000041816e87"
                    + "740100007b68e5cf8b0100000600020000000000746f6b3a656e636f6d2e6578616d706c652e617070636f6c"
                    + "0908076e65777308070605040302017b7d"),
            PackedGolden(
                description: "a topic, stored by nobody", notification: notification(.firebaseTopic, "weather"),
                expiration: .unstored(until: 1_900_000_000),
                hex: "05a0000000000f0002000000000000001111111111111111222222222222222200b33f710000000000000000"
                    + "000000007b68e5cf8b010000070003000000000077656174686572636f6d2e6578616d706c652e6170707b7d"),
            PackedGolden(
                description: "a condition", notification: notification(.firebaseCondition, "'a' in topics"),
                hex: "0580000000000f00020000000000000011111111111111112222222222222222000000000000000000000000"
                    + "000000007b68e5cf8b0100000d0004000000000027612720696e20746f70696373636f6d2e6578616d706c65"
                    + "2e6170707b7d"),
            PackedGolden(
                description: "a subscription, with a sealed payload",
                notification: notification(.webPush, "https://push.example/e", [0, 0xFF, 1], .sealed),
                hex: "0580000000000f00030000000000000011111111111111112222222222222222000000000000000000000000"
                    + "000000007b68e5cf8b010000160005010000000068747470733a2f2f707573682e6578616d706c652f65636f"
                    + "6d2e6578616d706c652e61707000ff01"),
            PackedGolden(
                description: "a subscription, without a payload",
                notification: notification(.webPush, "https://push.example/e", [], .none),
                hex: "0580000000000f00000000000000000011111111111111112222222222222222000000000000000000000000"
                    + "000000007b68e5cf8b010000160005020000000068747470733a2f2f707573682e6578616d706c652f65636f"
                    + "6d2e6578616d706c652e617070"),
            PackedGolden(
                description: "a kind of address and a kind of payload that nobody knows",
                notification: notification(
                    ServiceAddress(checked: ServiceAddress.Kind(rawValue: 200), [0, 0xFF]), [1],
                    PayloadKind(rawValue: 77)),
                hex: "0580000000000f00010000000000000011111111111111112222222222222222000000000000000000000000"
                    + "000000007b68e5cf8b0100000200c84d0000000000ff636f6d2e6578616d706c652e61707001"),
        ]
    }()

    @Test("is these bytes, and is read from them", arguments: goldens)
    func golden(_ golden: PackedGolden) throws {
        try golden.expectGolden { fields, _ in
            #expect(fields.service == golden.notification.recipient.serviceAddress?.kind)
            #expect(fields.isBroadcast == golden.notification.isBroadcast)
            #expect(fields.token == nil)
        }
    }

    @Test("is none where a version says so that does not know its flags", arguments: 1...4 as ClosedRange<UInt8>)
    func older(version: UInt8) { for golden in Self.goldens { golden.expectNone(inVersion: version) } }

    @Test("of a later version is told from damage") func newer() {
        var bytes = Self.goldens[0].packed
        bytes[0] = PackedNotification.version + 1
        #expect(throws: PackedNotification.Damage.version(PackedNotification.version + 1)) {
            try PackedNotification.Fields(bytes.span, in: 0..<bytes.count)
        }
    }

    @Test("has an address of the most bytes, and of no byte more") func longest() throws {
        let most = ServiceAddress.maximumByteCount
        let longest = PackedGolden(
            description: "", notification: Self.notification(.webPush, String(repeating: "x", count: most)))
        var bytes = longest.packed
        #expect(try PackedNotification.Fields(bytes.span, in: 0..<bytes.count).address.count == most)
        bytes.insert(0x78, at: PackedNotification.serviceHeaderByteCount)
        (bytes[56], bytes[57]) = (1, UInt8(most >> 8))
        #expect(throws: PackedNotification.Damage.malformed) {
            try PackedNotification.Fields(bytes.span, in: 0..<bytes.count)
        }
    }

    @Test("of which a byte is missing is damage") func truncated() {
        for golden in Self.goldens { golden.expectDamageWhenCut() }
    }

    @Test(
        "of which bits are flipped is damage or another notification, never a crash",
        arguments: 0..<300 as Range<UInt64>)
    func flipped(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        for golden in Self.goldens {
            golden.flipBits(&random) { read in
                _ = "\(read.recipient) \(read.recipient.notation) \(read.recipient.text)"
            }
        }
    }
}
