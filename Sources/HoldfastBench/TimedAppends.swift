internal import Dispatch
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// Appends to a journal, one behind the other, each timed until it is on disk.
struct TimedAppends {
    private static let now = WallTime(milliseconds: 1_700_000_000_000)

    let lane: LaneID
    private let journal: LMDBJournal
    private let producer: ProducerID
    private let payload: [UInt8]

    init(_ journal: LMDBJournal, payload: [UInt8]) throws {
        self.journal = journal
        self.payload = payload
        lane = try journal.openLane(LaneKey(route: "bench", urgency: .immediate, guarantee: .atLeastOnce)).id
        producer = try journal.openProducer("default")
    }

    /// Single appends at a rate.
    ///
    /// - Returns: microseconds.
    func singly(_ count: Int, perSecond: Int) throws -> [Double] {
        try (0..<count).map { _ in
            Thread.sleep(forTimeInterval: 1 / Double(perSecond))
            return try append(1).seconds * 1_000_000
        }
    }

    /// - Returns: how long it took until they were on disk.
    func append(_ count: Int) throws -> Duration {
        var bytes: [UInt8] = []
        var items: [Submission.Item] = []
        for number in 0..<count {
            let start = bytes.count
            PackedNotification.append(
                PushNotification(
                    token: DeliveryBench.token(number), topic: DeliveryBench.topic, payload: payload, pushType: .alert),
                id: NotificationID(high: UInt64(number), low: 7), expiration: .at(1_900_000_000), acceptedAt: Self.now,
                producer: "", to: &bytes)
            items.append(Submission.Item(lane: lane, range: start..<bytes.count))
        }
        let (done, outcome) = (DispatchSemaphore(value: 0), Monitor<JournalError?>(nil))
        let start = ContinuousClock.now
        journal.append(Submission(producer: producer, acceptedAt: Self.now, bytes: bytes, items: items)) { result in
            if case .failure(let error) = result { outcome.withLock { $0 = error } }
            done.signal()
        }
        done.wait()
        if let error = outcome.withLock({ $0 }) { throw error }
        return ContinuousClock.now - start
    }
}
