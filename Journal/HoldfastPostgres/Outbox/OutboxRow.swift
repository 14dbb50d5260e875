internal import Foundation
package import Holdfast
internal import HoldfastPQ

/// A notification that an application has submitted by SQL.
package struct OutboxRow: Sendable {
    /// Its number in the outbox.
    package let id: Int64
    /// The name to submit under.
    package let producer: String
    /// Or why it can't be one.
    package let notification: Result<PushNotification, Refusal>
    /// Whether the application has chosen its apns-id, so that it may be the repeat of another.
    package let isNamed: Bool
    /// What it is known by in the journal that takes it.
    package let place: QueueRow
    /// Whether a commit that the database has lost may have taken it.
    package let isPossiblySent: Bool

    /// Whether it is not to be sent if it may have been sent.
    var isOnce: Bool {
        guard let notification = try? notification.get() else { return false }
        return notification.guarantee == .atMostOnce || notification.expiration == .once
    }

    /// - Throws: `unexpected` for a row of another form.
    init(_ row: PQRow) throws(PQError) {
        id = try row.int8(0)
        isNamed = try !row.bool(2)
        producer = try row.text(14)
        place = QueueRow(number: id, time: try row.int8(21))
        isPossiblySent = try row.bool(22)
        let fields = try OutboxFields(row)
        do throws(Refusal) {
            notification = .success(try fields.notification(isNamed: isNamed))
        } catch {
            notification = .failure(error)
        }
    }
}

/// The columns of a row, of the types that they have in the schema.
private struct OutboxFields {
    let id: UUID
    let token: [UInt8]?
    let channel: String?
    let topic: String
    let payload: String
    let pushType: String?
    let priority: Int16?
    let expiration: Int64?
    let tryUntil: Int64?
    let collapseID: String?
    let tag: String?
    let context: String?
    let isOnce: Bool
    let environment: String?
    let deliverAfter: Int64?
    let deliverWithin: String?
    let newestWins: Bool
    let registeredAt: Int64?

    init(_ row: PQRow) throws(PQError) {
        id = try row.uuid(1)
        token = try row.isNull(3) ? nil : try row.bytes(3)
        channel = try row.textOrNull(4)
        topic = try row.text(5)
        payload = try row.text(6)
        pushType = try row.textOrNull(7)
        priority = try row.isNull(8) ? nil : try row.int2(8)
        expiration = try row.int8OrNull(9)
        tryUntil = try row.int8OrNull(10)
        collapseID = try row.textOrNull(11)
        tag = try row.textOrNull(12)
        context = try row.textOrNull(13)
        isOnce = try row.bool(15)
        environment = try row.textOrNull(16)
        deliverAfter = try row.int8OrNull(17)
        deliverWithin = try row.textOrNull(18)
        newestWins = try row.bool(19)
        registeredAt = try row.int8OrNull(20)
    }

    /// What the functions have checked is read again, since the table is not theirs alone.
    func notification(isNamed: Bool) throws(Refusal) -> PushNotification {
        var hours: DeliveryHours?
        if let deliverWithin { hours = try DeliveryHours(deliverWithin) }
        var notification = PushNotification(
            recipient: try recipient(), topic: topic, payload: Array(payload.utf8),
            pushType: pushType.map(PushType.init(rawValue:)),
            priority: priority.flatMap { UInt8(exactly: $0) }.flatMap(Priority.init(rawValue:)),
            expiration: Expiration(unixSeconds: expiration, ownDeadline: tryUntil), collapseID: collapseID,
            id: NotificationID(id.uuidString), tokenRegisteredAt: registeredAt.map(WallTime.init(milliseconds:)),
            guarantee: isOnce ? .atMostOnce : .atLeastOnce, tag: tag.map { Array($0.utf8) } ?? [],
            context: context.map { Array($0.utf8) } ?? [], deliverAfter: deliverAfter.map(WallTime.init(milliseconds:)),
            deliveryHours: hours, newestWins: newestWins)
        notification.environment = environment.flatMap(PushEnvironment.init(rawValue:))
        notification.hasAssignedID = !isNamed
        return notification
    }

    private func recipient() throws(Refusal) -> Recipient {
        if let channel { return .channel(try BroadcastChannel(channel)) }
        guard let token, let device = DeviceToken(bytes: token) else {
            throw Refusal(.badDeviceToken, "a device token has 1 to \(DeviceToken.maximumByteCount) bytes")
        }
        return .device(device)
    }
}

extension PQRow {
    fileprivate func textOrNull(_ column: Int) throws(PQError) -> String? {
        try isNull(column) ? nil : try text(column)
    }

    fileprivate func int8OrNull(_ column: Int) throws(PQError) -> Int64? {
        try isNull(column) ? nil : try int8(column)
    }
}
