import Holdfast
import HoldfastAPNsAnswers

/// The number of a notification is in its token.
enum Sample {
    static func token(_ number: Int) -> DeviceToken {
        var bytes = [UInt8](repeating: 0xAB, count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        guard let token = DeviceToken(bytes: bytes) else { fatalError("32 bytes are a token") }
        return token
    }

    static func number(of token: DeviceToken) -> Int {
        token.bytes.prefix(8).enumerated().reduce(0) { sum, byte in sum | Int(byte.element) << (8 * byte.offset) }
    }
}

extension Submission {
    /// By the one Producer of these tests.
    static var empty: Submission {
        Submission(producer: ProducerID(rawValue: 1), acceptedAt: WallTime(milliseconds: 1_700_000_000_123))
    }

    mutating func add(_ number: Int, _ index: Int, _ lane: LaneID, payload: Int) {
        let text = "{\"n\":\(number),\"pad\":\""
        let pad = String(repeating: "x", count: max(0, payload - text.utf8.count - 2))
        let start = bytes.count
        PackedNotification.append(
            PushNotification(
                token: Sample.token(number), topic: "com.example.app", payload: text + pad + "\"}", pushType: .alert),
            id: NotificationID(high: UInt64(number), low: UInt64(index)), expiration: .at(1_900_000_000),
            acceptedAt: WallTime(milliseconds: 1_700_000_000_123), producer: "test", to: &bytes)
        items.append(Item(lane: lane, range: start..<bytes.count))
    }
}

extension BlacklistEntry {
    init(blacklisting number: Int) {
        self.init(
            token: Sample.token(number), reason: .unregistered, since: WallTime(milliseconds: 1_700_000_000_000),
            learntAt: WallTime(milliseconds: 1_700_000_001_000), route: "default")
    }
}
