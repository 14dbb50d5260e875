import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal

/// Fills a journal with everything that a journal can hold, and settles much of it, so that its files have pages of all
/// kinds: branches, overflow runs, free ones with records of long ago.
struct JournalLife {
    private let journal: LMDBJournal
    private static let keys: [LaneKey] = [
        LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce),
        LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce),
        LaneKey(route: "other", urgency: .immediate, guarantee: .atMostOnce),
    ]
    private static let time = WallTime(milliseconds: 1_700_000_000_123)

    init(_ journal: LMDBJournal) { self.journal = journal }

    func live(rounds: Int, batch: Int) throws {
        let lanes = try Self.keys.map { try journal.openLane($0).id }
        let producers = try ["first", "second"].map { try journal.openProducer($0) }
        var number = 0
        for round in 0..<rounds {
            for (index, lane) in lanes.enumerated() {
                let first = try append(&number, batch, lane, producers[(round + index) % 2], round: round)
                try settle(first.rawValue, batch, lane, round: round)
            }
            try journal.setNote("round", to: [UInt8](repeating: UInt8(round), count: round % 3 == 0 ? 5000 : 20))
            try blacklist(round, batch)
        }
        try journal.setNote("gone", to: [1])
        try journal.setNote("gone", to: nil)
        _ = try journal.removeRejections([UID(2), UID(5)])
        journal.raiseMark(of: lanes[0], to: UID(UInt64(number / 2)))
        try wait { done in journal.settle(SettlementBatch(settledAt: Self.time)) { result in done(result.map { _ in }) }
        }
    }

    private func append(
        _ number: inout Int, _ count: Int, _ lane: LaneID, _ producer: ProducerID, round: Int
    ) throws -> UID {
        var submission = Submission(producer: producer, acceptedAt: Self.time)
        for index in 0..<count {
            number += 1
            // Some lie in overflow pages.
            let payload = number % 17 == 0 ? 3900 : 60 + number % 400
            let start = submission.bytes.count
            PackedNotification.append(
                PushNotification(
                    token: Self.token(number), topic: "com.example.app",
                    payload: Array("{\"n\":\(number),\"pad\":\"\(String(repeating: "x", count: payload))\"}".utf8),
                    pushType: .alert,
                    tag: Array("tag \(number)".utf8)),
                id: NotificationID(high: UInt64(number), low: 7), expiration: .at(1_900_000_000), acceptedAt: Self.time,
                producer: "first", to: &submission.bytes)
            submission.items.append(.init(lane: lane, range: start..<submission.bytes.count))
            if number % 3 == 0 {
                submission.identities.append(
                    (index, Identity(high: UInt64(number) &* 0x9E37_79B9, low: UInt64(number))))
            }
        }
        if round % 2 == 0 { submission.note = ("progress", Array("line \(number)".utf8)) }
        let appended = Monitor<Result<Appended, JournalError>?>(nil)
        try wait { done in
            journal.append(submission) { result in
                appended.withLock { appended in appended = result }
                done(result.map { _ in })
            }
        }
        return try appended.withLock(\.self)?.get().first ?? .none
    }

    /// Of each batch about a half stays unconfirmed, some of it deferred.
    private func settle(_ first: UInt64, _ count: Int, _ lane: LaneID, round: Int) throws {
        var batch = SettlementBatch(settledAt: Self.time, keepsOutcomes: round % 2 == 0)
        for uid in first..<(first + UInt64(count)) {
            let key = EntryKey(lane: lane, uid: UID(uid))
            switch uid % 8 {
            case 0, 1: batch.acknowledged.append(Acknowledgement(key))
            case 2:
                let cause = RejectionCause(
                    reason: .badDeviceToken, status: 400, timestamp: uid % 3 == 0 ? Self.time : nil,
                    rejectedAt: Self.time)
                batch.others.append(Settlement(key, .reject(cause)))
            case 3: batch.others.append(Settlement(key, uid % 3 == 0 ? .expire : .unknown))
            case 4:
                batch.others.append(
                    Settlement(
                        key,
                        .deferUntil(
                            WallTime(milliseconds: 1_700_000_100_000 + Int64(uid)), attempts: UInt16(uid % 5) + 1,
                            reason: .serviceUnavailable, possiblySent: uid % 16 == 4)))
            default: break
            }
        }
        try wait { done in journal.settle(batch) { result in done(result.map { _ in }) } }
        if round % 4 == 3 {
            let now = WallTime(milliseconds: 1_700_000_100_000 + Int64(first))
            try wait { done in
                journal.promoteDue(lane, after: nil, now: now, limit: 1000) { result in done(result.map { _ in }) }
            }
        }
    }

    private func blacklist(_ round: Int, _ count: Int) throws {
        let entries = (0..<count).map { index in
            BlacklistEntry(
                token: Self.token((round * 31 + index * 7919) % 100_000), reason: .unregistered, since: Self.time,
                learntAt: Self.time, route: "default")
        }
        try wait { done in journal.blacklist.add(entries) { result in done(result) } }
        _ = try journal.blacklist.remove(entries.prefix(count / 4).map(\.recipient))
    }

    private static func token(_ number: Int) -> DeviceToken {
        var bytes = [UInt8](repeating: 0xAB, count: 32)
        for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        guard let token = DeviceToken(bytes: bytes) else { fatalError("32 bytes are a token") }
        return token
    }

    private func wait(_ body: (@escaping @Sendable (Result<Void, JournalError>) -> Void) -> Void) throws {
        let result = Monitor<Result<Void, JournalError>?>(nil)
        body { done in
            result.withLock { result in result = done }
            result.broadcast()
        }
        guard let done = result.wait(atMost: .seconds(60), for: { result in result }) else {
            throw Failure("no answer")
        }
        try done.get()
    }
}
