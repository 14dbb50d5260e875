import Holdfast

extension Rejection {
    /// - Parameters:
    ///   - bytes: a row of `rejections`.
    ///   - producers: the names, Producer 1 first.
    ///   - lanes: lane 1 first.
    init(_ bytes: [UInt8], uid: UInt64, producers: [String], lanes: [LaneRecord]) throws(EntryRecord.Fault) {
        let rejection = try RejectionRecord.read(bytes.span).get()
        let record = Array(bytes[rejection.record])
        // The key has no lane; the record says which.
        let lane = EntryRecord.uncheckedHead(record.span).lane
        let entry = try EntryRecord.read(record.span, lane: lane, uid: uid).get()
        let fields = try entry.fields(in: record)
        self.init(
            uid: UID(uid), cause: rejection.cause, attempts: Int(entry.head.attempts),
            producer: producers.name(of: entry.head.producer), acceptedAt: fields.acceptedAt,
            lane: lanes[checked: lane]?.key, notification: PushNotification(fields, in: record))
    }
}
