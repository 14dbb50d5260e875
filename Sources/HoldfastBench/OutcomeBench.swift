internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// What the log of outcomes costs, and how long it takes to find one among many.
struct OutcomeBench {
    /// For one notification: appended and acknowledged.
    struct Cost: Encodable {
        var microseconds: Double
        /// Of the whole process, the making of the submissions apart.
        var cpuMicroseconds: Double
    }

    /// Entries in a submission, and requests that wait at a time.
    private static let batch = 256
    private static let depth = 16
    private static let lane = LaneKey(route: "bench", urgency: .immediate, guarantee: .atLeastOnce)
    static let now = WallTime(milliseconds: 1_700_000_000_000)
    /// Notifications that share a tag.
    static let tagged = 1000

    let journal: LMDBJournal
    private let lane: LaneID
    private let producer: ProducerID
    private let template: (bytes: [UInt8], ranges: [Range<Int>])
    private let tokenOffset = PackedNotification.headerByteCount
    private let gate = RequestGate(depth: Self.depth)
    /// The most bytes of the log; nil for no limit.
    private let limit: Int?

    init(_ journal: LMDBJournal, payloadBytes: Int, limit: Int? = nil) throws {
        self.journal = journal
        self.limit = limit
        lane = try journal.openLane(Self.lane).id
        producer = try journal.openProducer("default")
        template = Self.template(payloadBytes)
    }

    private static func template(_ payloadBytes: Int) -> (bytes: [UInt8], ranges: [Range<Int>]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        let payload = DeliveryBench.payload(payloadBytes)
        for index in 0..<batch {
            let start = bytes.count
            var notification = PushNotification(
                token: token(of: UInt64(index)), topic: DeliveryBench.topic, payload: payload, pushType: .alert)
            notification.tag = tag(of: 0)
            PackedNotification.append(
                notification, id: id(of: UInt64(index)), expiration: .at(1_900_000_000), acceptedAt: now, producer: "",
                to: &bytes)
            ranges.append(start..<bytes.count)
        }
        return (bytes, ranges)
    }

    static func id(of number: UInt64) -> NotificationID {
        NotificationID(high: number &* 0x9E37_79B9_7F4A_7C15, low: number)
    }

    static func token(of number: UInt64) -> DeviceToken {
        var bytes = [UInt8](repeating: 0xAB, count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))) }
        guard let token = DeviceToken(bytes: bytes) else { preconditionFailure("32 bytes are a token") }
        return token
    }

    static func tag(of number: UInt64) -> [UInt8] {
        Array("campaign-\(String(number / UInt64(tagged) + 1_000_000))".utf8)
    }

    /// Appends and acknowledges `count` notifications, numbered from `first` on.
    func round(_ count: Int, from first: UInt64, keepsOutcomes: Bool) throws -> Cost {
        let submissions = (0..<(count + Self.batch - 1) / Self.batch).map { index in
            submission(from: first + UInt64(index * Self.batch))
        }
        let next = try journal.status().nextUID.rawValue
        let (cpu, clock) = (ProcessFigures.now(), ContinuousClock.now)
        for submission in submissions {
            gate.enter()
            journal.append(submission) { [gate] in gate.leave($0.map { _ in }) }
        }
        let end = next + UInt64(submissions.count * Self.batch)
        for start in stride(from: next, to: end, by: 1000) {
            gate.enter()
            let keys = (start..<min(start + 1000, end)).map { uid in
                Acknowledgement(EntryKey(lane: lane, uid: UID(uid)), sentAgo: SentAgo(milliseconds: 20))
            }
            var batch = SettlementBatch(
                acknowledged: keys,
                settledAt: WallTime(milliseconds: Self.now.milliseconds + Int64(first + start - next)),
                keepsOutcomes: keepsOutcomes)
            batch.greatestOutcomeBytes = limit
            journal.settle(batch) { [gate] in gate.leave($0.map { _ in }) }
        }
        try gate.drain()
        let parts = Double(submissions.count * Self.batch)
        return Cost(
            microseconds: (ContinuousClock.now - clock) / .microseconds(1) / parts,
            cpuMicroseconds: (ProcessFigures.now().own - cpu.own) * 1_000_000 / parts)
    }

    private func submission(from first: UInt64) -> Submission {
        var bytes = template.bytes
        let tag = Self.tag(of: first)
        for (index, range) in template.ranges.enumerated() {
            let number = first + UInt64(index)
            let id = Self.id(of: number)
            Self.store(id.high, in: &bytes, at: range.lowerBound + 16)
            Self.store(id.low, in: &bytes, at: range.lowerBound + 24)
            Self.store(number, in: &bytes, at: range.lowerBound + tokenOffset)
            let start = range.lowerBound + tokenOffset + 32 + DeliveryBench.topic.utf8.count
            for (offset, byte) in tag.enumerated() { bytes[start + offset] = byte }
        }
        return Submission(
            producer: producer, acceptedAt: Self.now, bytes: bytes,
            items: template.ranges.map { Submission.Item(lane: lane, range: $0) })
    }

    private static func store(_ value: UInt64, in bytes: inout [UInt8], at offset: Int) {
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))) }
    }
}
