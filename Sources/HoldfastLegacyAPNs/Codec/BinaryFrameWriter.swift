package import Holdfast
package import NIOCore

/// Writes notifications as a client of the binary protocol does, straight from their packed form.
package struct BinaryFrameWriter {
    /// Appends a frame of command 2.
    ///
    /// The items come in the order 3, 1, 2, 4, 5: the identifier first, so that a service that stops reading at a bad item
    /// can name the notification all the same. Where no expiration goes out, 4 is left out.
    ///
    /// - Parameters:
    ///   - fields: token and payload have at most 65,535 bytes each, which every packed notification keeps.
    ///   - bytes: what the fields were read from.
    package static func append(
        _ fields: PackedNotification.Fields, of bytes: [UInt8], identifier: UInt32, to buffer: inout ByteBuffer
    ) {
        let (token, payload) = (fields.address.count, fields.payload.count)
        let expires = fields.expirationToSend.map(expiration)
        buffer.writeMultipleIntegers(
            BinaryProtocol.Command.framed,
            UInt32(itemHeaderByteCount + (expires == nil ? 0 : expirationByteCount) + token + payload),
            BinaryProtocol.Item.identifier, UInt16(4), identifier,
            BinaryProtocol.Item.token, UInt16(token))
        buffer.writeBytes(bytes[fields.address])
        buffer.writeMultipleIntegers(BinaryProtocol.Item.payload, UInt16(payload))
        buffer.writeBytes(bytes[fields.payload])
        if let expires { buffer.writeMultipleIntegers(BinaryProtocol.Item.expiration, UInt16(4), expires) }
        buffer.writeMultipleIntegers(BinaryProtocol.Item.priority, UInt16(1), priority(fields.priority))
    }

    /// Of the four items that are always there, all but token and payload: four ids and lengths, identifier, priority.
    private static let itemHeaderByteCount = 4 * 3 + 4 + 1
    /// Of the expiration, id and length included.
    private static let expirationByteCount = 3 + 4

    /// Appends the notification that no service takes: a frame of command 1 with a token of no bytes.
    ///
    /// Command 1, because its identifier has a fixed place before the token: nothing but the token can be called wrong,
    /// and whoever refuses it has read its name. An empty item of command 2 may be taken for a broken frame instead
    /// (status 128).
    package static func appendBarrier(identifier: UInt32, to buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(BinaryProtocol.Command.enhanced, identifier, UInt32(1))
        buffer.writeMultipleIntegers(UInt16(0), UInt16(barrierPayload.count))
        buffer.writeBytes(barrierPayload)
    }

    private static let barrierPayload = Array(#"{"aps":{}}"#.utf8)

    /// Seconds for the wire. 0 is sent only when it was asked for: it means that nothing is kept for a device that is
    /// offline.
    private static func expiration(_ seconds: Int64) -> UInt32 {
        seconds == 0 ? 0 : UInt32(clamping: max(seconds, 1))
    }

    /// The protocol knows 10 and 5. None means 10, as everywhere; 1, which HTTP/2 added later, is nearest to 5.
    private static func priority(_ priority: Priority?) -> UInt8 {
        guard let rawValue = priority?.rawValue else { return 10 }
        return rawValue == 10 ? 10 : 5
    }
}
