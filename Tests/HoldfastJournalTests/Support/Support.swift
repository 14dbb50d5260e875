import Foundation
import Holdfast
import HoldfastJournal
import Testing

/// A directory of its own for one test, which removes it at its end: in a `defer`, since the last use of a reference is
/// not the end of what it stands for.
struct Scratch: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "/holdfast-\(UUID().uuidString)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            fatalError("no scratch directory: \(error)")
        }
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Issue.record("the scratch directory stays: \(error)")
        }
    }

    var journal: String { path + "/test.journal" }
}

/// A value that a completion leaves and a test waits for, with a limit.
final class Box<Value: Sendable>: Sendable {
    private let value = Monitor<Value?>(nil)

    func put(_ new: Value) {
        value.withLock { value in value = new }
        value.broadcast()
    }

    func get(_ limit: TimeInterval = 60) throws -> Value {
        guard let value = value.wait(atMost: .seconds(limit), for: { value in value }) else {
            throw TimedOut()
        }
        return value
    }
}

struct TimedOut: Error {}

let acceptance = WallTime(milliseconds: 1_700_000_000_123)

let immediate = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)
let considerate = LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce)
let once = LaneKey(route: "default", urgency: .immediate, guarantee: .atMostOnce)

/// Notification number `number`: which is in its payload and its token.
func sample(_ number: Int, payloadByteCount: Int = 200) -> PushNotification {
    var token = [UInt8](repeating: 0xAB, count: 32)
    withUnsafeBytesOf(number) { index, byte in token[index] = byte }
    let text = "{\"n\":\(number),\"pad\":\""
    let pad = String(repeating: "x", count: max(0, payloadByteCount - text.utf8.count - 2))
    guard let token = DeviceToken(bytes: token) else { fatalError("32 bytes are a token") }
    return PushNotification(token: token, topic: "com.example.app", payload: text + pad + "\"}", pushType: .alert)
}

private func withUnsafeBytesOf(_ number: Int, _ body: (Int, UInt8) -> Void) {
    for index in 0..<8 { body(index, UInt8(truncatingIfNeeded: number >> (8 * index))) }
}

/// A submission of sample notifications, all for one lane.
func submission(
    _ numbers: some Sequence<Int>, _ lane: LaneID, payloadByteCount: Int = 200,
    producer: ProducerID = ProducerID(rawValue: 1)
) -> Submission {
    var submission = Submission(producer: producer, acceptedAt: acceptance, earliestTime: acceptance)
    for number in numbers { submission.add(sample(number, payloadByteCount: payloadByteCount), lane) }
    return submission
}

extension Submission {
    /// Of the first Producer.
    init() { self.init(producer: ProducerID(rawValue: 1), acceptedAt: acceptance, earliestTime: acceptance) }

    mutating func add(_ notification: PushNotification, _ lane: LaneID) {
        let start = bytes.count
        PackedNotification.append(
            notification, id: NotificationID(high: UInt64(items.count), low: 7), expiration: .at(1_900_000_000),
            acceptedAt: acceptance, producer: "", to: &bytes)
        items.append(Item(lane: lane, range: start..<bytes.count))
    }
}

/// The asynchronous calls, waited for.
extension LMDBJournal {
    func append(_ submission: Submission) throws -> Appended {
        let box = Box<Result<Appended, JournalError>>()
        append(submission) { result in box.put(result) }
        return try box.get().get()
    }

    /// Of the Producer "default".
    @discardableResult
    func append(_ numbers: some Sequence<Int>, to lane: LaneID, payloadByteCount: Int = 200) throws -> UID {
        let producer = try openProducer("default")
        return try append(submission(numbers, lane, payloadByteCount: payloadByteCount, producer: producer)).first
    }

    @discardableResult
    func trim(_ bounds: TrimBounds) throws -> Trimmed {
        let box = Box<Result<Trimmed, JournalError>>()
        trim(bounds) { result in box.put(result) }
        return try box.get().get()
    }

    func setReader(_ name: String, to cursor: OutcomeCursor?) throws {
        let box = Box<Result<Void, JournalError>>()
        setReader(name, to: cursor) { result in box.put(result) }
        try box.get().get()
    }

    /// All outcomes of the log, in their order.
    func allOutcomes() throws -> [Outcome] {
        var all: [Outcome] = []
        var cursor = OutcomeCursor.start
        while true {
            let page = try outcomes(after: cursor, limit: 1000)
            if page.end == cursor { return all }
            all += page.outcomes
            cursor = page.end
        }
    }

    @discardableResult
    func settle(_ batch: SettlementBatch) throws -> SettlementReport {
        let box = Box<Result<SettlementReport, JournalError>>()
        settle(batch) { result in box.put(result) }
        return try box.get().get()
    }

    @discardableResult
    func acknowledge(_ uids: some Sequence<UID>, _ lane: LaneID) throws -> SettlementReport {
        try settle(SettlementBatch(acknowledging: uids.map { uid in EntryKey(lane: lane, uid: uid) }))
    }

    @discardableResult
    func settle(_ uid: UID, _ lane: LaneID, _ kind: Settlement.Kind) throws -> SettlementReport {
        try settle(SettlementBatch(others: [Settlement(EntryKey(lane: lane, uid: uid), kind)]))
    }

    func promote(_ lane: LaneID, now: Int64, limit: Int = 1000) throws -> [UID] {
        let box = Box<Result<[UID], JournalError>>()
        promoteDue(lane, after: nil, now: WallTime(milliseconds: now), limit: limit) { result in box.put(result) }
        return try box.get().get()
    }

    /// Everything unconfirmed and not deferred, read in batches.
    func all(_ lane: LaneID, limit: Int = 1000) throws -> [(uid: UID, attempts: UInt16, notification: PushNotification)]
    {
        var entries: [(uid: UID, attempts: UInt16, notification: PushNotification)] = []
        var last = UID.none
        while true {
            let batch = try unconfirmed(lane, after: last, through: .max, limit: limit)
            guard let end = batch.items.last else { return entries }
            for (index, item) in batch.items.enumerated() {
                entries.append((item.uid, item.attempts, try batch.notification(at: index)))
            }
            last = end.uid
        }
    }

    func uids(_ lane: LaneID) throws -> [UID] { try all(lane).map(\.uid) }
}

extension BlacklistStorage {
    func add(_ entries: [BlacklistEntry]) throws {
        let box = Box<Result<Void, JournalError>>()
        add(entries) { result in box.put(result) }
        try box.get().get()
    }

    func lift(_ registrations: [TokenRegistration]) throws {
        let box = Box<Result<Void, JournalError>>()
        lift(registrations) { result in box.put(result) }
        try box.get().get()
    }
}

func uids(_ range: ClosedRange<UInt64>) -> [UID] { range.map { number in UID(number) } }

let rejection = RejectionCause(
    reason: .badDeviceToken, status: 400, timestamp: nil, rejectedAt: WallTime(milliseconds: 1_700_000_001_000))
