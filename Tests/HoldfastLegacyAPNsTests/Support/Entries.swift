import Holdfast
import HoldfastTesting
import NIOCore

@testable import HoldfastLegacyAPNs

/// Hand-outs of notifications, as the engine makes them.
struct Entries {
    /// - Parameter position: of the first; the others follow.
    static func handOut(_ notifications: [PushNotification], from position: UInt64 = 1) -> HandOut {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        var tickets: [Ticket] = []
        for (index, notification) in notifications.enumerated() {
            let start = bytes.count
            PackedNotification.append(
                notification, id: SampleNotification.id(index),
                expiration: notification.expiration ?? SampleNotification.expiration,
                acceptedAt: SampleNotification.acceptedAt, producer: "default", to: &bytes)
            let number = position + UInt64(index)
            items.append(EntryBatch.Item(uid: UID(number), attempts: 0, range: start..<bytes.count))
            tickets.append(.position(number))
        }
        return HandOut(entries: EntryBatch(bytes: bytes, items: items), tickets: tickets)
    }

    static func handOut(_ positions: ClosedRange<UInt64>) -> HandOut {
        handOut(positions.map { SampleNotification.numbered(Int($0)) }, from: positions.lowerBound)
    }

    /// As it goes over the wire.
    static func frame(_ notification: PushNotification, identifier: UInt32) throws -> [UInt8] {
        let entries = handOut([notification]).entries
        var buffer = ByteBuffer()
        BinaryFrameWriter.append(
            try entries.fields(at: 0), of: entries.bytes, identifier: identifier, to: &buffer)
        return Array(buffer.readableBytesView)
    }
}
