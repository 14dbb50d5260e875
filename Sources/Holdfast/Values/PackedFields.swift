extension PackedNotification {
    /// The fields of one packed notification. Reading them allocates nothing; variable parts are ranges of the bytes.
    public struct Fields: Sendable {
        /// See ``PushNotification/guarantee``.
        public let guarantee: Guarantee
        /// The `apns-priority`; `nil` if none is sent.
        public let priority: Priority?
        /// 0 for none, else one more than the index in ``PushType/known``.
        package let pushTypeCode: UInt8
        /// The `apns-id`, the same for every attempt.
        public let id: NotificationID
        /// The time until which Holdfast tries, in Unix seconds; 0 is one attempt.
        public let expiration: Int64
        /// Whether the service stores nothing, whatever ``expiration`` is.
        public let isUnstored: Bool
        /// Whether the service is told no expiration, whatever ``expiration`` is.
        public let isUnstated: Bool
        /// Whether the recipient is a channel or a topic that devices follow, and not a device.
        public let isBroadcast: Bool
        /// The kind of an address at a service other than Apple's, known or not; `nil` for tokens and channels.
        public let service: ServiceAddress.Kind?
        /// The form of the payload.
        public let payloadKind: PayloadKind
        /// When the app last registered the recipient, if the sender said so.
        public let tokenRegisteredAt: WallTime?
        /// When the notification was accepted, by this machine's wall clock.
        public let acceptedAt: WallTime
        /// The rejection that an operator sent again as this entry; `.none` for anything else.
        package let retryOf: UID
        let hasCollapseID: Bool
        /// The range of the token's bytes, the channel's id or another service's address. As in all ranges, offsets are from
        /// the start of the span that the fields were read from.
        public let address: Range<Int>
        /// The range of the topic, in UTF-8.
        public let topic: Range<Int>
        /// The range of the collapse id, in UTF-8; empty if there is none.
        public let collapseID: Range<Int>
        /// The range of the application's tag; empty if there is none.
        public let tag: Range<Int>
        package let producer: Range<Int>
        /// When and beside what it may go out, and what the application said with it.
        let additions: Additions
        /// The range of the application's context; empty if there is none.
        public var context: Range<Int> { additions.context }
        /// The time before which it does not go out.
        public var deliverAfter: WallTime? { additions.deliverAfter }
        /// Whether a newer notification supersedes it: see ``PushNotification/newestWins``.
        public var newestWins: Bool { additions.newestWins }
        /// The range of the payload.
        public let payload: Range<Int>

        /// The `apns-push-type`; `nil` if none is sent.
        public var pushType: PushType? { pushTypeCode == 0 ? nil : PushType.known[Int(pushTypeCode) - 1] }

        /// The range of the token's bytes; `nil` for a broadcast, and for services other than Apple's.
        @inlinable public var token: Range<Int>? { isBroadcast || service != nil ? nil : address }

        /// The value of `apns-expiration`; `nil` if none is sent.
        @inlinable public var expirationToSend: Int64? { isUnstated ? nil : isUnstored ? 0 : expiration }

        /// Whether the notification must not be sent any more. One with expiration 0 never expires: it gets one attempt.
        @inlinable public func isExpired(at now: WallTime) -> Bool { expiration != 0 && expiration <= now.seconds }

        /// - Throws: ``Damage`` when the bytes are not one packed notification from the first to the last.
        package init(_ bytes: Span<UInt8>, in range: Range<Int>) throws(Damage) {
            let start = range.lowerBound
            guard range.upperBound <= bytes.count, range.count >= PackedNotification.headerByteCount else {
                throw .truncated
            }
            let version = bytes[start]
            guard (1...PackedNotification.version).contains(version) else { throw .version(version) }
            let flags = bytes[start + 1]
            let further = bytes[start + 15]
            guard flags & ~Flags.known(in: version) == 0, further & ~Flags.furtherKnown(in: version) == 0 else {
                throw .malformed
            }
            guarantee = flags & Flags.atMostOnce != 0 ? .atMostOnce : .atLeastOnce
            hasCollapseID = flags & Flags.hasCollapseID != 0
            isUnstored = flags & Flags.isUnstored != 0
            isUnstated = flags & Flags.isUnstated != 0
            guard !isUnstored || !isUnstated else { throw .malformed }
            let code = bytes[start + 2]
            priority = Priority(rawValue: code)
            guard code == 0 || priority != nil else { throw .malformed }
            pushTypeCode = bytes[start + 3]
            guard Int(pushTypeCode) <= PushType.known.count else { throw .malformed }
            id = NotificationID(
                high: bytes.littleEndian64(at: start + 16), low: bytes.littleEndian64(at: start + 24))
            expiration = Int64(bitPattern: bytes.littleEndian64(at: start + 32))
            let registered = Int64(bitPattern: bytes.littleEndian64(at: start + 40))
            tokenRegisteredAt = flags & Flags.hasRegistration != 0 ? WallTime(milliseconds: registered) : nil
            acceptedAt = WallTime(milliseconds: Int64(bitPattern: bytes.littleEndian64(at: start + 48)))

            let hasService = flags & Flags.hasServiceAddress != 0
            let headCount =
                hasService ? PackedNotification.serviceHeaderByteCount : PackedNotification.headerByteCount
            guard range.count >= headCount else { throw .truncated }
            var additions = try Additions(further, bytes, at: start + headCount, upTo: range.upperBound)
            var tokenCount = Int(bytes[start + 4])
            if hasService {
                guard tokenCount == 0, flags & Flags.isBroadcast == 0, bytes[start + 58] != 0 else { throw .malformed }
                tokenCount = Int(bytes.littleEndian16(at: start + 56))
                let kind = ServiceAddress.Kind(rawValue: bytes[start + 58])
                (service, payloadKind) = (kind, PayloadKind(rawValue: bytes[start + 59]))
                isBroadcast = kind.isBroadcast
            } else {
                (service, payloadKind) = (nil, .json)
                isBroadcast = flags & Flags.isBroadcast != 0
            }
            let collapseCount = Int(bytes[start + 5])
            let topicCount = Int(bytes.littleEndian16(at: start + 6))
            let payloadCount = Int(bytes.littleEndian32(at: start + 8))
            let tagCount = Int(bytes.littleEndian16(at: start + 12))
            let producerCount = Int(bytes[start + 14])
            var position = start + headCount + additions.headByteCount
            address = position..<(position + tokenCount)
            position += tokenCount
            topic = position..<(position + topicCount)
            position += topicCount
            collapseID = position..<(position + collapseCount)
            position += collapseCount
            tag = position..<(position + tagCount)
            position += tagCount
            producer = position..<(position + producerCount)
            position += producerCount
            position = try additions.place(at: position, bytes, upTo: range.upperBound)
            self.additions = additions
            let isRetry = flags & Flags.isRetry != 0
            guard !isRetry || position + 8 <= range.upperBound else { throw .malformed }
            retryOf = isRetry ? UID(bytes.littleEndian64(at: position)) : .none
            if isRetry { position += 8 }
            payload = position..<(position + payloadCount)
            guard payload.upperBound == range.upperBound, tokenCount > 0,
                tokenCount <= (hasService ? ServiceAddress.maximumByteCount : DeviceToken.maximumByteCount)
            else { throw .malformed }
        }
    }
}

extension PackedNotification.Fields {
    /// - Parameter bytes: what the fields were read from, so that the address has as many of them as it may have.
    package func recipient(in bytes: [UInt8]) -> Recipient {
        if let service { return .service(ServiceAddress(checked: service, Array(bytes[address]))) }
        return isBroadcast
            ? .channel(BroadcastChannel(checked: String(decoding: bytes[address], as: UTF8.self)))
            : .device(DeviceToken(checked: Array(bytes[address])))
    }
}

extension PackedNotification.Fields {
    fileprivate var expirationAsAccepted: Expiration {
        if isUnstated { return .unstated(until: expiration) }
        return isUnstored ? .unstored(until: expiration) : Expiration(unixSeconds: expiration)
    }
}

extension PushNotification {
    /// The notification as it was accepted: with its id and expiration filled in.
    package init(_ fields: PackedNotification.Fields, in bytes: [UInt8]) {
        self.init(
            recipient: fields.recipient(in: bytes),
            topic: String(decoding: bytes[fields.topic], as: UTF8.self),
            payload: Array(bytes[fields.payload]),
            payloadKind: fields.payloadKind,
            pushType: fields.pushType,
            priority: fields.priority,
            expiration: fields.expirationAsAccepted,
            collapseID: fields.hasCollapseID ? String(decoding: bytes[fields.collapseID], as: UTF8.self) : nil,
            id: fields.id,
            tokenRegisteredAt: fields.tokenRegisteredAt,
            guarantee: fields.guarantee,
            tag: Array(bytes[fields.tag]), context: Array(bytes[fields.context]), deliverAfter: fields.deliverAfter,
            deliveryHours: fields.deliveryHours(in: bytes), newestWins: fields.newestWins)
        trace = fields.trace(in: bytes.span)
    }
}
