package import Holdfast
package import NIOCore

/// Writes notifications as a client of the binary protocol does, straight from their packed form.
package struct BinaryFrameWriter {
    /// Appends a frame of command 2.
    ///
    /// The items come in the order 3, 1, 2, 4, 5: the identifier first, so that a service that stops reading at a bad
    /// item can still name the notification. Item 4 is left out where there is no expiration.
    ///
    /// - Parameters:
    ///   - fields: token and payload have at most 65,535 bytes each, which every packed notification keeps.
    /// - bytes: the packed notification that the fields were read from.
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

    /// Bytes of the four items that are always present, without token and payload: four ids and lengths, identifier,
    /// priority.
    private static let itemHeaderByteCount = 4 * 3 + 4 + 1
    /// Bytes of the expiration item, id and length included.
    private static let expirationByteCount = 3 + 4

    /// Appends a barrier, a notification that no service takes: a frame of command 1 with an empty token.
    ///
    /// Command 1, because its identifier has a fixed place before the token: only the token can be called wrong, and a
    /// service that refuses it has read its identifier. An empty item of command 2 may be taken for a broken frame
    /// instead (status 128).
    package static func appendBarrier(identifier: UInt32, to buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(BinaryProtocol.Command.enhanced, identifier, UInt32(1))
        buffer.writeMultipleIntegers(UInt16(0), UInt16(barrierPayload.count))
        buffer.writeBytes(barrierPayload)
    }

    private static let barrierPayload = Array(#"{"aps":{}}"#.utf8)

    /// Seconds for the wire. 0 means that nothing is stored for an offline device, so it is sent only when it was asked
    /// for.
    private static func expiration(_ seconds: Int64) -> UInt32 {
        seconds == 0 ? 0 : UInt32(clamping: max(seconds, 1))
    }

    /// The protocol knows 10 and 5. No priority means 10, as everywhere; 1, which HTTP/2 added later, is nearest to 5.
    private static func priority(_ priority: Priority?) -> UInt8 {
        guard let rawValue = priority?.rawValue else { return 10 }
        return rawValue == 10 ? 10 : 5
    }
}
