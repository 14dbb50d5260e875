import Testing

@testable import Holdfast

@Suite struct ValuesTests {
    @Test("A device token is parsed from hex of either case, and compared by its bytes")
    func tokenCase() throws {
        #expect(try DeviceToken("EFC7492BDBD8209F") == DeviceToken("efc7492bdbd8209f"))
        #expect(try DeviceToken("EFC7").hex == "efc7")
    }

    @Test(
        "A token is refused in Apple's words when its digits are not a token",
        arguments: [
            ("", Reason.missingDeviceToken), ("a", .badDeviceToken), ("zz", .badDeviceToken), ("abc", .badDeviceToken),
            (String(repeating: "a", count: 202), .badDeviceToken), ("efc7 492b", .badDeviceToken),
            ("éé", .badDeviceToken),
        ])
    func badTokens(_ text: String, _ reason: Reason) {
        let refusal = #expect(throws: Refusal.self) { try DeviceToken(text) }
        #expect(refusal?.reason == reason)
    }

    @Test("Two hundred digits are a token") func longestToken() throws {
        #expect(try DeviceToken(String(repeating: "ab", count: 100)).bytes.count == 100)
    }

    @Test(
        "Tokens are read as people paste them",
        arguments: [
            "<efc7492b dbd8209f>", " efc7492b-dbd8209f\n", "0xEFC7492BDBD8209F", "ef:c7:49:2b:db:d8:20:9f",
            "\"efc7492bdbd8209f\"",
        ])
    func sanitizing(_ text: String) throws {
        #expect(try DeviceToken(sanitizing: text).hex == "efc7492bdbd8209f")
    }

    @Test("Sanitizing does not make a token of what is none") func sanitizingRefuses() {
        #expect(throws: Refusal.self) { try DeviceToken(sanitizing: "<hello world>") }
        #expect(throws: Refusal.self) { try DeviceToken(sanitizing: "<>") }
    }

    @Test("A token does not reach a log whole by accident") func tokenDescription() throws {
        let token = try DeviceToken(String(repeating: "ab", count: 32))
        #expect("\(token)" == "abab…abab")
    }

    @Test("An apns-id keeps its canonical form, and only that is one") func notificationID() {
        let text = "123e4567-e89b-12d3-a456-4266554400a0"
        #expect(NotificationID(text)?.description == text)
        #expect(NotificationID(text.uppercased())?.description == text)
        for bad in [
            "", "123e4567e89b12d3a4564266554400a0", text + "0", String(text.dropLast()), "g" + text.dropFirst(),
        ] {
            #expect(NotificationID(bad) == nil)
        }
    }

    @Test("New apns-ids are version 4 UUIDs, and differ") func newIDs() {
        var source = NotificationIDSource()
        let ids = (0..<1000).map { _ in source.next() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            let text = Array(id.description)
            #expect(text[14] == "4" && "89ab".contains(text[19]))
        }
    }

    @Test("A packed notification gives back every field", arguments: 0..<200 as Range<UInt64>)
    func packedRoundTrip(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        let notification = Sample.notification(using: &random)
        let id = NotificationID(using: &random)
        var bytes: [UInt8] = Array(repeating: 0xEE, count: Int.random(in: 0...40, using: &random))
        let start = bytes.count
        let expiration = [Expiration.once, .at(1_900_000_000), .unstored(until: 5), .unstated(until: 6)]
            .randomElement(using: &random)!
        PackedNotification.append(
            notification, id: id, expiration: expiration, acceptedAt: WallTime(milliseconds: 5), producer: "p",
            to: &bytes)
        let range = start..<bytes.count
        let fields = try PackedNotification.Fields(bytes.span, in: range)
        var expected = notification
        expected.id = id
        expected.expiration = expiration
        #expect(fields.expirationToSend == expiration.unixSeconds)
        #expect(PushNotification(fields, in: bytes) == expected, "seed \(seed)")
        #expect(fields.acceptedAt == WallTime(milliseconds: 5))
        #expect(String(decoding: bytes[fields.producer], as: UTF8.self) == "p")
    }

    @Test("A broadcast is packed byte for byte as Docs/Internals/JournalFormat.md says") func packedBroadcast() throws {
        let notification = PushNotification(
            channel: try BroadcastChannel("dHN0LXNyY2gtY2hubA=="), topic: "com.example.app", payload: Array("{}".utf8),
            priority: .considerate)
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222),
            expiration: .unstored(until: 1_900_000_000), acceptedAt: WallTime(milliseconds: 1_700_000_000_123),
            producer: "", to: &bytes)
        let golden =
            "0330050814000f0002000000000000001111111111111111222222222222222200b33f71000000000000000000000000"
            + "7b68e5cf8b01000064484e304c584e79593267745932687562413d3d636f6d2e6578616d706c652e6170707b7d"
        #expect(Hex.string(bytes) == golden)
        // An older version has not these flags, and must not be taken for one that has.
        for version in [1, 2] as [UInt8] {
            bytes[0] = version
            #expect(throws: PackedNotification.Damage.malformed) {
                try PackedNotification.Fields(bytes.span, in: 0..<bytes.count)
            }
        }
    }

    @Test("A channel id is base64 text of 4 to 100 characters") func channels() throws {
        for good in ["dHN0LXNyY2gtY2hubA==", "AAAA", "AA+/", String(repeating: "Az09", count: 25)] {
            #expect(try BroadcastChannel(good).id == good)
        }
        #expect(throws: Refusal(.missingChannelID, "the channel id is empty")) { try BroadcastChannel("") }
        for bad in [
            "AAA", "AAAAA", "A===", "====", "AA=A", "AA-_", "AA A", "AAA\n", "AA\r\nx: y", "ÄÄ", "\0\0\0\0",
            String(repeating: "A", count: 104),
        ] {
            let error = #expect(throws: Refusal.self, "\(bad.debugDescription)") { try BroadcastChannel(bad) }
            #expect(error?.reason == .badChannelID)
        }
    }

    @Test("Bytes that are no packed notification are damage, never a crash", arguments: 0..<500 as Range<UInt64>)
    func packedDamage(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        var bytes: [UInt8] = []
        PackedNotification.append(
            Sample.notification(using: &random), id: NotificationID(using: &random), expiration: .once,
            acceptedAt: WallTime(milliseconds: 0), producer: "", to: &bytes)
        if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...bytes.count, using: &random)) }
        for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        }
        // Either it is read or it is damage; the point is that nothing traps, and all ranges are within the bytes.
        if let fields = try? PackedNotification.Fields(bytes.span, in: 0..<bytes.count) {
            #expect(fields.payload.upperBound == bytes.count)
            _ = PushNotification(fields, in: bytes)
        }
    }

    @Test("Times that overflow are clamped") func clamping() {
        #expect(WallTime(seconds: .max) == WallTime(milliseconds: .max))
        #expect(WallTime(milliseconds: .max).advanced(by: .seconds(1)).milliseconds == .max)
        #expect(WallTime(milliseconds: -1).seconds == -1)
    }
}

enum Sample {
    static let token = DeviceToken(checked: Array(repeating: 0xAB, count: 32))

    static func notification(_ number: Int = 0, guarantee: Guarantee = .atLeastOnce) -> PushNotification {
        var bytes = Array(repeating: UInt8(0), count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return PushNotification(
            token: DeviceToken(checked: bytes), topic: "com.example.app",
            payload: Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8),
            guarantee: guarantee)
    }

    static func notifications(_ numbers: Range<Int>, of topic: String, _ guarantee: Guarantee = .atLeastOnce)
        -> [PushNotification]
    {
        numbers.map { number in
            var notification = notification(number, guarantee: guarantee)
            notification.topic = topic
            return notification
        }
    }

    static func notification(using random: inout Xoshiro256) -> PushNotification {
        func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &random)).map { _ in UInt8.random(in: 97...122, using: &random) }
        }
        return PushNotification(
            recipient: Bool.random(using: &random)
                ? .device(DeviceToken(checked: bytes(1...100)))
                : .channel(BroadcastChannel(checked: String(decoding: bytes(1...100), as: UTF8.self))),
            topic: String(decoding: bytes(1...255), as: UTF8.self),
            payload: bytes(1...4096),
            pushType: Bool.random(using: &random) ? PushType.known.randomElement(using: &random) : nil,
            priority: [nil, .immediate, .considerate, .low].randomElement(using: &random)!,
            collapseID: Bool.random(using: &random) ? String(decoding: bytes(1...64), as: UTF8.self) : nil,
            tokenRegisteredAt: Bool.random(using: &random)
                ? WallTime(milliseconds: Int64.random(in: .min ... .max, using: &random)) : nil,
            guarantee: Bool.random(using: &random) ? .atLeastOnce : .atMostOnce, tag: bytes(0...256))
    }
}
