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
///     15  u8   0; from version 6 on more flags: 1 has a context · 2 has a delivery time · 4 has delivery hours ·
///              8 newest wins · 16 belongs to a trace (version 7)
///     16  u64  apns-id, first half    24 u64 second half
///     32  i64  expiration, Unix seconds; 0 is one attempt. With flag 32 the service is told 0, with 64 nothing
///     40  i64  token registered at, milliseconds
///     48  i64  accepted at, milliseconds
///     56       with flag 128: u16 address length, 1…2048 · u8 kind of the address · u8 kind of the payload · u32 0
///     56 or 64 with one of the flags 1, 2 and 4 of version 6: i64 delivery time, milliseconds · u16 context length,
///              0…4096 · u16 first minute of the delivery hours · u16 minute of their end · u8 time zone length, 0…64 ·
///              u8 0; what has no flag is 0
///     then     token, channel id or address · topic · collapse id · tag · producer name · context · time zone · with
///              flag 16 of version 7 the trace (``TraceContext``) · of a retry: u64 UID of the rejection · payload
///
/// It carries no checksum: the journal's record around it does.
public struct PackedNotification: Sendable {
    /// The newest.
    package static let version: UInt8 = 7
    /// The first in which the newest may win.
    static let newestVersion: UInt8 = 6
    package static let headerByteCount = 56
    /// With the address of another service than Apple's.
    static let serviceHeaderByteCount = 64
    /// Of a context, a delivery time and delivery hours, behind the header.
    static let additionByteCount = 16
    /// The most bytes a packed notification can have; records beyond this are damage.
    package static let maximumByteCount = 68 * 1024

    /// The most bytes of a payload that leave room for everything else at its longest.
    public static let maximumPayloadByteCount = 60 * 1024
    /// The most bytes of a collapse identifier.
    public static let maximumCollapseIDByteCount = 64
    /// The most bytes of a context.
    public static let maximumContextByteCount = 4096

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

        /// The second byte of flags, which version 6 brought.
        static let hasContext: UInt8 = 1
        static let hasDeliveryTime: UInt8 = 2
        static let hasDeliveryHours: UInt8 = 4
        static let newestWins: UInt8 = 8
        /// Since version 7.
        static let hasTrace: UInt8 = 16
        /// Those whose values lie behind the header.
        static let additions = hasContext | hasDeliveryTime | hasDeliveryHours

        static func furtherKnown(in version: UInt8) -> UInt8 {
            switch version {
            case ...5: 0
            case 6: additions | newestWins
            default: additions | newestWins | hasTrace
            }
        }

        /// The second byte of flags for `notification`.
        static func further(_ notification: borrowing PushNotification) -> UInt8 {
            var flags: UInt8 = 0
            if !notification.context.isEmpty { flags |= hasContext }
            if notification.deliverAfter != nil { flags |= hasDeliveryTime }
            if notification.deliveryHours != nil { flags |= hasDeliveryHours }
            if notification.newestWins { flags |= newestWins }
            return flags
        }

        /// The first version that knows them all.
        static func version(for flags: UInt8, further: UInt8) -> UInt8 {
            if further != 0 { return further & hasTrace == 0 ? 6 : 7 }
            if flags & ~known(in: 1) == 0 { return 1 }
            if flags & ~known(in: 2) == 0 { return 2 }
            if flags & ~known(in: 3) == 0 { return 3 }
            return flags & ~known(in: 4) == 0 ? 4 : 5
        }
    }

    /// The expiration of a packed notification in `range`: Unix seconds; 0 is one attempt.
    ///
    /// - Precondition: it is at least a header.
    package static func expiration(of bytes: Span<UInt8>, in range: Range<Int>) -> Int64 {
        Int64(bitPattern: bytes.littleEndian64(at: range.lowerBound + 32))
    }

    /// Appends the packed form of `notification` to `output`.
    ///
    /// - Parameters:
    ///   - id: the apns-id that every attempt carries.
    ///   - impliedPriority: where the notification has none.
    ///   - producer: the name of the Producer that accepted it, at most 255 bytes.
    ///   - retryOf: the rejection that an operator sends again; `.none` for anything else.
    ///   - newestWins: whether the newest wins among all notifications that have a collapse id.
    ///   - keepsTrace: whether the trace is kept that it belongs to.
    /// - Precondition: the notification is valid by ``NotificationValidator``.
    package static func append(
        _ notification: borrowing PushNotification, id: NotificationID, impliedPriority: Priority? = nil,
        expiration: Expiration, acceptedAt: WallTime, producer: String, retryOf: UID = .none, newestWins: Bool = false,
        keepsTrace: Bool = true, to output: inout [UInt8]
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
        var further = Flags.further(notification)
        if newestWins, notification.collapseID != nil { further |= Flags.newestWins }
        if keepsTrace, notification.trace != nil { further |= Flags.hasTrace }

        output.append(Flags.version(for: flags, further: further))
        output.append(flags)
        output.append((notification.priority ?? impliedPriority)?.rawValue ?? 0)
        output.append(notification.pushType.map(code(of:)) ?? 0)
        output.append(flags & Flags.hasServiceAddress == 0 ? UInt8(address.count) : 0)
        output.append(UInt8(collapseID.utf8.count))
        output.appendLittleEndian(UInt16(notification.topic.utf8.count))
        output.appendLittleEndian(UInt32(notification.payload.count))
        output.appendLittleEndian(UInt16(notification.tag.count))
        output.append(UInt8(producer.utf8.count))
        output.append(further)
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
        if further & Flags.additions != 0 { appendAdditions(of: notification, to: &output) }
        output.append(contentsOf: address)
        output.append(contentsOf: notification.topic.utf8)
        output.append(contentsOf: collapseID.utf8)
        output.append(contentsOf: notification.tag)
        output.append(contentsOf: producer.utf8)
        if further & Flags.additions != 0 {
            output.append(contentsOf: notification.context)
            if let hours = notification.deliveryHours { output.append(contentsOf: hours.timeZone.utf8) }
        }
        if further & Flags.hasTrace != 0, let trace = notification.trace { trace.append(to: &output) }
        if retryOf != .none { output.appendLittleEndian(retryOf.rawValue) }
        output.append(contentsOf: notification.payload)
    }

    private static func appendAdditions(of notification: borrowing PushNotification, to output: inout [UInt8]) {
        let hours = notification.deliveryHours
        output.appendLittleEndian(UInt64(bitPattern: notification.deliverAfter?.milliseconds ?? 0))
        output.appendLittleEndian(UInt16(notification.context.count))
        output.appendLittleEndian(UInt16(hours?.start ?? 0))
        output.appendLittleEndian(UInt16(hours?.end ?? 0))
        output.append(UInt8(hours?.timeZone.utf8.count ?? 0))
        output.append(0)
    }

    static func code(of type: PushType) -> UInt8 {
        PushType.known.firstIndex(of: type).map { UInt8($0 + 1) } ?? 0
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
