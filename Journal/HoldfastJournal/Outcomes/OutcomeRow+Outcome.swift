import Holdfast
import HoldfastLMDB

extension OutcomeRow {
    /// The outcome as applications get it; `nil` if its fields make no sense.
    ///
    /// - Parameters:
    ///   - bytes: of its block.
    ///   - producers: the names, Producer 1 first.
    func outcome(_ number: UInt64, _ bytes: Span<UInt8>, producers: [String]) -> Outcome? {
        guard let recipient = recipient(bytes),
            let extras = OutcomeExtras(bytes, in: extras, settledAt: settledAt),
            let terminal = OutcomeCode.outcome(code, reason: extras.cause?.reason ?? Reason(rawValue: ""))
        else { return nil }
        return Outcome(
            cursor: OutcomeCursor(number), uid: UID(uid), terminal: terminal, cause: extras.cause,
            history: DeliveryHistory(
                acceptedAt: WallTime(milliseconds: acceptedAt), sentAt: sentAt.map(WallTime.init(milliseconds:)),
                settledAt: WallTime(milliseconds: settledAt), attempts: Int(clamping: attempts)),
            id: id, recipient: recipient,
            topic: String(decoding: bytes.extracting(topic).array, as: UTF8.self),
            producer: producers.name(of: producer), tag: bytes.extracting(tag).array, context: extras.context,
            uniqueID: extras.uniqueID.isEmpty ? nil : String(decoding: extras.uniqueID, as: UTF8.self),
            payload: extras.payload)
    }

    private func recipient(_ bytes: Span<UInt8>) -> Recipient? {
        let address = bytes.extracting(recipient).array
        switch kind {
        case Kind.token: return DeviceToken(bytes: address).map(Recipient.device)
        case Kind.channel:
            return (try? BroadcastChannel(String(decoding: address, as: UTF8.self))).map(Recipient.channel)
        case Kind.service:
            let kind = ServiceAddress.Kind(rawValue: service)
            return (try? ServiceAddress(kind, bytes: address)).map(Recipient.service)
        default: return nil
        }
    }

    /// The row of an entry's end.
    ///
    /// - Parameters:
    ///   - head: of the entry's record, as it lay in the journal.
    ///   - fields: of its notification.
    @inline(__always)
    init(_ end: LoggedEnd, head: EntryRecord.Head, _ fields: borrowing PackedNotification.OutcomeFields) {
        self.init(
            code: end.code, uid: head.uid, idHigh: fields.id.high, idLow: fields.id.low, settledAt: end.settledAt,
            acceptedAt: fields.acceptedAt, sentAt: end.sentAt, attempts: UInt64(head.attempts) + end.attempts,
            producer: head.producer,
            kind: fields.service != nil ? Kind.service : fields.isChannel ? Kind.channel : Kind.token,
            service: fields.service?.rawValue ?? 0, topic: fields.topic, recipient: fields.address, tag: fields.tag)
    }

    /// The row of an outcome, and the bytes that it is written from.
    ///
    /// - Parameter producer: the Producer's number.
    static func packed(_ outcome: Outcome, producer: UInt16) -> (row: OutcomeRow, source: [UInt8], extras: [UInt8]) {
        var source = outcome.recipient.address
        let recipient = 0..<source.count
        source += outcome.topic.utf8
        let topic = recipient.upperBound..<source.count
        source += outcome.tag
        let tag = topic.upperBound..<source.count
        let (kind, service): (UInt8, UInt8) =
            switch outcome.recipient {
            case .device: (Kind.token, 0)
            case .channel: (Kind.channel, 0)
            case .service(let address): (Kind.service, address.kind.rawValue)
            }
        let settledAt = outcome.settledAt.milliseconds
        let row = OutcomeRow(
            code: OutcomeCode.code(of: outcome.terminal), uid: outcome.uid.rawValue, idHigh: outcome.id.high,
            idLow: outcome.id.low, settledAt: settledAt, acceptedAt: outcome.history.acceptedAt.milliseconds,
            sentAt: outcome.history.sentAt?.milliseconds, attempts: UInt64(max(0, outcome.history.attempts)),
            producer: producer, kind: kind, service: service, topic: topic, recipient: recipient, tag: tag)
        let extras = OutcomeExtras(
            cause: outcome.cause, context: outcome.context, uniqueID: Array((outcome.uniqueID ?? "").utf8),
            payload: outcome.payload)
        return (row, source, extras.bytes(settledAt: settledAt))
    }
}
