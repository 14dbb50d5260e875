import NIOCore
import NIOHPACK
import Testing

@testable import Holdfast
@testable import HoldfastAPNs

/// What we encode, read by a decoder that is not ours.
@Suite struct RequestHeadersTests {
    private func notification(_ number: Int, topic: String = "com.example.app") -> PushNotification {
        PushNotification(
            token: DeviceToken(bytes: Array(repeating: UInt8(number & 0xFF), count: 32))!, topic: topic,
            payload: Array("{}".utf8))
    }

    private func pack(_ notification: PushNotification, id: NotificationID, expiration: Expiration) throws -> (
        PackedNotification.Fields, [UInt8]
    ) {
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: id, expiration: expiration, acceptedAt: WallTime(milliseconds: 0), producer: "",
            to: &bytes)
        return (try PackedNotification.Fields(bytes.span, in: 0..<bytes.count), bytes)
    }

    private func expected(_ notification: PushNotification, id: NotificationID, expiration: Expiration) -> [(
        String, String
    )] {
        let path =
            notification.isBroadcast
            ? "/4/broadcasts/apps/\(notification.topic)" : "/3/device/\(notification.recipient.text)"
        var fields = [
            (":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "h:1"),
            ("authorization", "bearer x"),
        ]
        if !notification.isBroadcast { fields.append(("apns-topic", notification.topic)) }
        if let type = notification.pushType { fields.append(("apns-push-type", type.rawValue)) }
        if let priority = notification.priority { fields.append(("apns-priority", String(priority.rawValue))) }
        if notification.isBroadcast { fields.append(("apns-channel-id", notification.recipient.text)) }
        fields.append((notification.isBroadcast ? "apns-request-id" : "apns-id", id.description))
        if let seconds = expiration.unixSeconds { fields.append(("apns-expiration", String(seconds))) }
        if let collapse = notification.collapseID { fields.append(("apns-collapse-id", collapse)) }
        return fields
    }

    @Test(
        "A foreign decoder reads every request as it was meant, whatever table it allows",
        arguments: 0..<40 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        let tableSize = [0, 64, 200, 4096, 65536].randomElement(using: &random)!
        var headers = RequestHeaders(authority: "h:1", isCleartext: false)
        headers.setAuthorization(Array("bearer x".utf8))
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        let change = Int.random(in: 0..<20, using: &random)
        for number in 0..<60 {
            if number == change {
                headers.setPeerTableSize(tableSize)
                decoder.maxDynamicTableLength = tableSize
            }
            var sample = notification(
                number, topic: "com.example.app\(Int.random(in: 0..<(seed.isMultiple(of: 2) ? 2 : 80), using: &random))"
            )
            sample.pushType = Bool.random(using: &random) ? PushType.known.randomElement(using: &random) : nil
            sample.priority = [nil, .immediate, .considerate, .low].randomElement(using: &random)!
            sample.collapseID = Bool.random(using: &random) ? "c\(number)" : nil
            if number > 2, Int.random(in: 0..<3, using: &random) == 0 {
                sample.recipient = .channel(try BroadcastChannel("Y2hhbm5lbDAw".dropLast(4) + "00\(10 + number)"))
                sample.collapseID = nil
            }
            let id = NotificationID(using: &random)
            let kinds = [
                Expiration(unixSeconds: Int64.random(in: 0..<3, using: &random)), .unstored(until: 1_900_000_000),
                .unstated(until: 1_900_000_000),
            ]
            let expiration = kinds[number % kinds.count]
            let (fields, bytes) = try pack(sample, id: id, expiration: expiration)
            var block: [UInt8] = []
            headers.append(fields, of: bytes, to: &block)
            var buffer = ByteBuffer(bytes: block)
            let decoded = try decoder.decodeHeaders(from: &buffer).map { ($0.name, $0.value) }
            let wanted = expected(sample, id: id, expiration: expiration)
            #expect(decoded.map(\.0) == wanted.map(\.0), "seed \(seed), request \(number)")
            #expect(decoded.map(\.1) == wanted.map(\.1), "seed \(seed), request \(number)")
        }
    }

    @Test("What repeats is one byte: a second request is the token, the id and little else") func small() throws {
        var headers = RequestHeaders(authority: "api.push.apple.com:443", isCleartext: false)
        var random = Xoshiro256(seed: 1)
        var sizes: [Int] = []
        for number in 0..<3 {
            let (fields, bytes) = try pack(
                notification(number), id: NotificationID(using: &random), expiration: .at(1_800_000_000))
            var block: [UInt8] = []
            headers.append(fields, of: bytes, to: &block)
            sizes.append(block.count)
        }
        // Method, scheme, path (2 + 10 + 64), authority, topic, id (2 + 36), expiration (2 + 10).
        #expect(sizes[1] <= 4 + 77 + 39 + 13)
        #expect(sizes[2] == sizes[1])
    }
}
