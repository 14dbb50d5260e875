/// The flat form of a notification, in which it lies in the journal and travels to a connector, so that nothing between
/// `submit` and the wire allocates for each notification.
///
/// Little-endian:
///
///     0   u8   version: 1, or the first that knows its flags
///     1   u8   flags: 1 at most once · 2 has a collapse id · 4 has a registration time · 8 is a retry (version 2) ·
///              16 is a broadcast · 32 the service is to store nothing (version 3) · 64 the service is told no expiration
///              (version 4) · 128 has the address of another service (version 5)
///     2   u8   priority: 10, 5, 1, or 0 for none
///     3   u8   push type: 0 none, 1… index in `PushType.known` plus one
///     4   u8   token length, 1…100; of a broadcast the channel id's; with flag 128 0
///     5   u8   collapse id length, 0…64
///     6   u16  topic length
///     8   u32  payload length
///     12  u16  tag length, 0…256
///     14  u8   producer name length
///     15  u8   0
///     16  u64  apns-id, first half    24 u64 second half
///     32  i64  expiration, Unix seconds; 0 is one attempt. With flag 32 the service is told 0, with 64 nothing
///     40  i64  token registered at, milliseconds
///     48  i64  accepted at, milliseconds
///     56       with flag 128: u16 address length, 1…2048 · u8 kind of the address · u8 kind of the payload · u32 0
///     56 or 64 token, channel id or address · topic · collapse id · tag · producer name · of a retry:
///              u64 UID of the rejection · payload
///
/// It carries no checksum: the journal's record around it does.
public struct PackedNotification: Sendable {
    /// The newest.
    package static let version: UInt8 = 5
    package static let headerByteCount = 56
    /// With the address of another service than Apple's.
    static let serviceHeaderByteCount = 64
    /// The most bytes a packed notification can have; records beyond this are damage.
    package static let maximumByteCount = 64 * 1024

    /// The most bytes of a payload that leave room for everything else at its longest.
    public static let maximumPayloadByteCount = 60 * 1024
    /// The most bytes of a collapse identifier.
    public static let maximumCollapseIDByteCount = 64

    struct Flags {
        static let atMostOnce: UInt8 = 1
        static let hasCollapseID: UInt8 = 2
        static let hasRegistration: UInt8 = 4
        static let isRetry: UInt8 = 8
        static let isBroadcast: UInt8 = 16
        static let isUnstored: UInt8 = 32
        static let isUnstated: UInt8 = 64
        static let hasServiceAddress: UInt8 = 128

        static func known(in version: UInt8) -> UInt8 {
            switch version {
            case 1: 7
            case 2: 15
            case 3: 63
            case 4: 127
            default: 255
            }
        }

        /// The first version that knows them all.
        static func version(for flags: UInt8) -> UInt8 {
            if flags & ~known(in: 1) == 0 { return 1 }
            if flags & ~known(in: 2) == 0 { return 2 }
            if flags & ~known(in: 3) == 0 { return 3 }
            return flags & ~known(in: 4) == 0 ? 4 : 5
        }
    }

    /// Appends the packed form of `notification` to `output`.
    ///
    /// - Parameters:
    ///   - id: the apns-id that every attempt carries.
    ///   - impliedPriority: where the notification has none.
    ///   - producer: the name of the Producer that accepted it, at most 255 bytes.
    ///   - retryOf: the rejection that an operator sends again; `.none` for anything else.
    /// - Precondition: the notification is valid by ``NotificationValidator``.
    package static func append(
        _ notification: borrowing PushNotification, id: NotificationID, impliedPriority: Priority? = nil,
        expiration: Expiration, acceptedAt: WallTime, producer: String, retryOf: UID = .none, to output: inout [UInt8]
    ) {
        var flags: UInt8 = 0
        if notification.guarantee == .atMostOnce { flags |= Flags.atMostOnce }
        if notification.collapseID != nil { flags |= Flags.hasCollapseID }
        if notification.tokenRegisteredAt != nil { flags |= Flags.hasRegistration }
        if retryOf != .none { flags |= Flags.isRetry }
        switch notification.recipient {
        case .device: break
        case .channel: flags |= Flags.isBroadcast
        case .service: flags |= Flags.hasServiceAddress
        }
        if case .unstored = expiration { flags |= Flags.isUnstored }
        if case .unstated = expiration { flags |= Flags.isUnstated }
        let collapseID = notification.collapseID ?? ""
        let address = notification.recipient.address

        output.append(Flags.version(for: flags))
        output.append(flags)
        output.append((notification.priority ?? impliedPriority)?.rawValue ?? 0)
        output.append(notification.pushType.map(code(of:)) ?? 0)
        output.append(flags & Flags.hasServiceAddress == 0 ? UInt8(address.count) : 0)
        output.append(UInt8(collapseID.utf8.count))
        output.appendLittleEndian(UInt16(notification.topic.utf8.count))
        output.appendLittleEndian(UInt32(notification.payload.count))
        output.appendLittleEndian(UInt16(notification.tag.count))
        output.append(UInt8(producer.utf8.count))
        output.append(0)
        output.appendLittleEndian(id.high)
        output.appendLittleEndian(id.low)
        output.appendLittleEndian(UInt64(bitPattern: expiration.deadline ?? 0))
        output.appendLittleEndian(UInt64(bitPattern: notification.tokenRegisteredAt?.milliseconds ?? 0))
        output.appendLittleEndian(UInt64(bitPattern: acceptedAt.milliseconds))
        if case .service(let address) = notification.recipient {
            output.appendLittleEndian(UInt16(address.bytes.count))
            output.append(address.kind.rawValue)
            output.append(notification.payloadKind.rawValue)
            output.appendLittleEndian(UInt32(0))
        }
        output.append(contentsOf: address)
        output.append(contentsOf: notification.topic.utf8)
        output.append(contentsOf: collapseID.utf8)
        output.append(contentsOf: notification.tag)
        output.append(contentsOf: producer.utf8)
        if retryOf != .none { output.appendLittleEndian(retryOf.rawValue) }
        output.append(contentsOf: notification.payload)
    }

    static func code(of type: PushType) -> UInt8 {
        PushType.known.firstIndex(of: type).map { UInt8($0 + 1) } ?? 0
    }

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
            guard flags & ~Flags.known(in: version) == 0 else { throw .malformed }
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
            var position = start + headCount
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

    /// Why bytes are not a packed notification. More cases may come.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Damage: Error, Hashable, Sendable {
        /// The bytes end before the notification does.
        case truncated
        /// A newer Holdfast wrote them, in this version.
        case version(UInt8)
        /// A length or a code is out of its range.
        case malformed
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
            tag: Array(bytes[fields.tag]))
    }
}
