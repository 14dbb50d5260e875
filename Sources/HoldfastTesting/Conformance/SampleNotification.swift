package import Holdfast

/// Notifications to check things with: each is told by its number, which is in its token and its payload.
package struct SampleNotification {
    package static let expiration = Expiration.at(4_000_000_000)
    package static let acceptedAt = WallTime(milliseconds: 1_700_000_000_123)

    package static func device(_ number: Int) -> Recipient { .device(token(number)) }

    package static func token(_ number: Int) -> DeviceToken {
        var bytes = [UInt8](repeating: 0xAB, count: 24)
        // The greater byte first, so that tokens sort as their numbers do.
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: UInt64(number) >> UInt64(shift)))
        }
        guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("32 bytes are a token") }
        return token
    }

    package static func id(_ number: Int) -> NotificationID {
        NotificationID(high: 0x1111_1111_1111_4111, low: 0x8000_0000_0000_0000 | UInt64(number))
    }

    /// As it comes back from a journal: with id and expiration.
    package static func numbered(_ number: Int, payloadByteCount: Int = 0) -> PushNotification {
        let start = #"{"aps":{"alert":"number \#(number)"},"pad":""#
        let pad = String(repeating: "x", count: max(payloadByteCount - start.utf8.count - 2, 0))
        return PushNotification(
            token: token(number), topic: "com.example.app", payload: Array((start + pad + #""}"#).utf8),
            pushType: .alert, expiration: expiration, id: id(number), tag: Array("tag \(number)".utf8))
    }

    /// As it comes back from a journal.
    package static let broadcast = PushNotification(
        channel: BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA=="), topic: "com.example.app",
        payload: Array("{}".utf8), expiration: .unstored(until: 4_000_000_000), id: id(7), tag: Array("tag 7".utf8))

    /// A token of the same bytes as the channel's id.
    package static var tokenOfBroadcast: DeviceToken {
        guard let token = DeviceToken(bytes: broadcast.recipient.address) else {
            preconditionFailure("a channel id has as many bytes as a token may have")
        }
        return token
    }

    package static func append(
        _ number: Int, payloadByteCount: Int = 0, producer: String, to output: inout [UInt8]
    ) -> Range<Int> {
        let start = output.count
        PackedNotification.append(
            numbered(number, payloadByteCount: payloadByteCount), id: id(number), expiration: expiration,
            acceptedAt: acceptedAt, producer: producer, to: &output)
        return start..<output.count
    }
}
