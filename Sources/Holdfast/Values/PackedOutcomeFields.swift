extension PackedNotification {
    /// The fields of a packed notification that the log of outcomes keeps, and no others.
    ///
    /// Nearly every notification ends as confirmed, and reading all of its ``Fields`` for that would take as long as logging
    /// it. The record around it has a checksum, so lengths are looked at and codes are not.
    package struct OutcomeFields: Sendable {
        package let id: NotificationID
        /// Milliseconds.
        package let acceptedAt: Int64
        /// The kind of an address at another service; `nil` for tokens and channels.
        package let service: ServiceAddress.Kind?
        package let isChannel: Bool
        package let address: Range<Int>
        package let topic: Range<Int>
        package let tag: Range<Int>
        package let context: Range<Int>
        package let payload: Range<Int>

        /// - Returns: `nil` for a newer version, and for bytes whose lengths do not add up.
        package init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
            let start = range.lowerBound
            guard range.upperBound <= bytes.count, range.count >= PackedNotification.headerByteCount,
                bytes[start] <= PackedNotification.version
            else { return nil }
            let (flags, further) = (bytes[start + 1], bytes[start + 15])
            var position = start + PackedNotification.headerByteCount
            var addressCount = Int(bytes[start + 4])
            if flags & Flags.hasServiceAddress == 0 {
                (service, isChannel) = (nil, flags & Flags.isBroadcast != 0)
            } else {
                position = start + PackedNotification.serviceHeaderByteCount
                guard position <= range.upperBound else { return nil }
                addressCount = Int(bytes.littleEndian16(at: start + 56))
                (service, isChannel) = (ServiceAddress.Kind(rawValue: bytes[start + 58]), false)
            }
            var (contextCount, zoneCount) = (0, 0)
            if further & Flags.additions != 0 {
                guard position + PackedNotification.additionByteCount <= range.upperBound else { return nil }
                contextCount = Int(bytes.littleEndian16(at: position + 8))
                zoneCount = Int(bytes[position + 14])
                position += PackedNotification.additionByteCount
            }
            id = NotificationID(
                high: bytes.littleEndian64(at: start + 16), low: bytes.littleEndian64(at: start + 24))
            acceptedAt = Int64(bitPattern: bytes.littleEndian64(at: start + 48))
            address = position..<position + addressCount
            topic = address.upperBound..<address.upperBound + Int(bytes.littleEndian16(at: start + 6))
            let tagStart = topic.upperBound + Int(bytes[start + 5])
            tag = tagStart..<tagStart + Int(bytes.littleEndian16(at: start + 12))
            let contextStart = tag.upperBound + Int(bytes[start + 14])
            context = contextStart..<contextStart + contextCount
            var payloadStart = context.upperBound + zoneCount + (flags & Flags.isRetry == 0 ? 0 : 8)
            if further & Flags.hasTrace != 0 {
                let start = context.upperBound + zoneCount
                guard let count = TraceContext.byteCount(in: bytes, at: start, upTo: range.upperBound) else {
                    return nil
                }
                payloadStart += count
            }
            payload = payloadStart..<payloadStart + Int(bytes.littleEndian32(at: start + 8))
            guard payload.upperBound == range.upperBound, addressCount > 0 else { return nil }
        }
    }
}
