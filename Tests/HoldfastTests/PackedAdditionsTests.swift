import Testing

@testable import Holdfast

@Suite("A packed notification with a context, a delivery time, delivery hours, or of which the newest wins")
struct PackedAdditionsTests {
    private static func notification(_ change: (inout PushNotification) -> Void) -> PushNotification {
        var notification = PushNotification(
            token: DeviceToken(checked: [0x00, 0xFC, 0x13, 0xAD]), topic: "com.example.app", payload: "{}")
        change(&notification)
        return notification
    }

    static let goldens: [PackedGolden] = [
        PackedGolden(
            description: "a context", notification: notification { $0.context = [0x00, 0xFF] + Array("cart 7".utf8) },
            hex: "0600000004000f00020000000000000111111111111111112222222222222222000000000000000000000000"
                + "000000007b68e5cf8b0100000000000000000000080000000000000000fc13ad636f6d2e6578616d706c652e"
                + "61707000ff6361727420377b7d"),
        PackedGolden(
            description: "a delivery time",
            notification: notification { $0.deliverAfter = WallTime(milliseconds: 1_800_000_000_500) },
            expiration: .unstated(until: 1_900_000_000),
            hex: "0640000004000f0002000000000000021111111111111111222222222222222200b33f710000000000000000"
                + "000000007b68e5cf8b010000f4515c18a3010000000000000000000000fc13ad636f6d2e6578616d706c652e"
                + "6170707b7d"),
        PackedGolden(
            description: "delivery hours",
            notification: notification {
                $0.deliveryHours = DeliveryHours(checkedFrom: 540, until: 1080, timeZone: "Europe/Berlin")
            },
            hex: "0600000004000f00020000000000000411111111111111112222222222222222000000000000000000000000"
                + "000000007b68e5cf8b010000000000000000000000001c0238040d0000fc13ad636f6d2e6578616d706c652e"
                + "6170704575726f70652f4265726c696e7b7d"),
        PackedGolden(
            description: "the newest wins",
            notification: notification {
                $0.newestWins = true
                $0.collapseID = "score"
            },
            hex: "0602000004050f00020000000000000811111111111111112222222222222222000000000000000000000000"
                + "000000007b68e5cf8b01000000fc13ad636f6d2e6578616d706c652e61707073636f72657b7d"),
        PackedGolden(
            description: "all of them, at another service and as a retry",
            notification: notification {
                $0.recipient = .service(ServiceAddress(checked: .firebaseToken, Array("tok:en".utf8)))
                ($0.priority, $0.collapseID, $0.tag) = (.considerate, "col", [9, 8, 7])
                ($0.guarantee, $0.tokenRegisteredAt) = (.atMostOnce, WallTime(milliseconds: 1_600_000_000_321))
                ($0.context, $0.newestWins) = (Array(#"{"user":7}"#.utf8), true)
                $0.deliverAfter = WallTime(seconds: 1_800_000_000)
                $0.deliveryHours = DeliveryHours(checkedFrom: 1320, until: 360, timeZone: "UTC")
            }, expiration: .at(1_900_000_000), producer: "news", retryOf: UID(0x0102_0304_0506_0708),
            hex: "068f050000030f00020000000300040f1111111111111111222222222222222200b33f710000000041816e87"
                + "740100007b68e5cf8b010000060002000000000000505c18a30100000a00280568010300746f6b3a656e636f"
                + "6d2e6578616d706c652e617070636f6c0908076e6577737b2275736572223a377d5554430807060504030201"
                + "7b7d"),
    ]

    @Test("is these bytes, and is read from them", arguments: goldens)
    func golden(_ golden: PackedGolden) throws {
        try golden.expectGolden { fields, bytes in
            #expect(Array(bytes[fields.context]) == golden.notification.context)
            #expect(fields.deliverAfter == golden.notification.deliverAfter)
            #expect(fields.newestWins == golden.notification.newestWins)
        }
    }

    @Test("is none where a version says so that does not know its flags", arguments: 1...5 as ClosedRange<UInt8>)
    func older(version: UInt8) { for golden in Self.goldens { golden.expectNone(inVersion: version) } }

    @Test("has the bytes that it always had, where it has none of them") func unchanged() {
        let plain = PackedGolden(description: "", notification: Self.notification { _ in })
        #expect(plain.packed[0] == 1)
        #expect(plain.packed.count == 56 + 4 + 15 + 2)
        #expect(plain.packed[15] == 0)
    }

    @Test("has no flag, no length and no minute that are out of their range") func outOfRange() {
        func isDamage(_ golden: PackedGolden, _ change: (inout [UInt8]) -> Void) -> Bool {
            var bytes = golden.packed
            change(&bytes)
            return (try? PackedNotification.Fields(bytes.span, in: 0..<bytes.count)) == nil
        }
        let hours = Self.goldens[2]
        #expect(!isDamage(hours) { _ in })
        // Minute 1440; an end that is the beginning; no zone; a byte that is 0; flags that nobody knows.
        #expect(isDamage(hours) { ($0[66], $0[67]) = (0xA0, 0x05) })
        #expect(isDamage(hours) { ($0[68], $0[69]) = ($0[66], $0[67]) })
        #expect(isDamage(hours) { $0[70] = 0 })
        #expect(isDamage(hours) { $0[71] = 1 })
        for bit in 4..<8 { #expect(isDamage(hours) { $0[15] |= 1 << UInt8(bit) }) }
        // Values without their flag.
        #expect(isDamage(hours) { $0[56] = 1 })
        #expect(isDamage(hours) { $0[64] = 1 })
        var longest = Self.goldens[0].notification
        longest.context = Array(repeating: 7, count: PackedNotification.maximumContextByteCount)
        let whole = PackedGolden(description: "", notification: longest)
        #expect(!isDamage(whole) { _ in })
        #expect(
            isDamage(whole) {
                $0[64] += 1
                $0.append(0)
            })
    }

    @Test("keeps for its outcome what all of its fields say, without additions as well") func kept() throws {
        let channel = PushNotification(
            recipient: .channel(BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")), topic: "com.example.app",
            payload: [1])
        for notification in [channel, Self.notification { $0.tag = [7] }, Self.notification { $0.collapseID = "a" }] {
            let golden = PackedGolden(description: "", notification: notification, producer: "news", retryOf: UID(9))
            try golden.expectKept()
            golden.expectDamageWhenCut()
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
                _ = read.opening(at: WallTime(seconds: 1_800_000_000))
                _ = "\(read.deliveryHours?.description ?? "")"
            }
        }
    }
}
