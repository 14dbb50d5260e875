import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastTesting
import Testing

@Suite("Choosing entries")
struct FilterTests {
    /// What the filter says, said again in the plainest way.
    private func matches(_ filter: EntryFilter, _ entry: JournalEntry) -> Bool {
        let notification = entry.notification
        var reason = entry.lastReason
        if case .rejected(let cause) = entry.state { reason = cause.reason }
        let names = Set(filter.reasons.map { $0.rawValue.lowercased() })
        return (filter.lanes.isEmpty || filter.lanes.contains { $0.matches(entry.lane) })
            && filter.states.contains(entry.state.kind) && filter.uids.contains(entry.uid)
            && (filter.topics.isEmpty || filter.topics.contains(notification.topic))
            && (filter.tokens.isEmpty || filter.tokens.contains { $0.matches(notification.token!) })
            && (filter.producers.isEmpty || filter.producers.contains(entry.producer))
            && (filter.tags.isEmpty || filter.tags.contains { $0.matches(notification.tag) })
            && (filter.ids.isEmpty || notification.id.map(filter.ids.contains) ?? false)
            && (filter.acceptedBefore.map { entry.acceptedAt < $0 } ?? true)
            && (filter.acceptedAfter.map { entry.acceptedAt > $0 } ?? true)
            && (names.isEmpty || reason.map { names.contains($0.rawValue.lowercased()) } ?? false)
            && entry.attempts >= filter.attempts
    }

    private static let lanes = [
        immediate, considerate, once, LaneKey(route: "b", urgency: .immediate, guarantee: .atLeastOnce),
    ]
    private static let topics = ["com.example.app", "com.example.app.voip", "com.example"]
    private static let tags = ["", "order-1", "order-12", "order*"]
    private static let reasons: [Reason] = [.tooManyRequests, .internalServerError, .noAnswer]

    /// Entries of all kinds in four lanes, of two Producers.
    private func fill(_ journal: LMDBJournal, count: Int, _ random: inout Xoshiro256) throws {
        let lanes = try Self.lanes.map { key in try journal.openLane(key).id }
        let producers = [try journal.openProducer("default"), try journal.openProducer("billing")]
        var homes: [LaneID] = []
        for start in stride(from: 0, to: count, by: 500) {
            var submission = Submission(
                producer: producers[Int.random(in: 0...1, using: &random)], acceptedAt: acceptance)
            for number in start..<min(start + 500, count) {
                let lane = Int.random(in: 0..<4, using: &random)
                var notification = sample(number, payloadByteCount: 40)
                notification.topic = Self.topics[Int.random(in: 0..<3, using: &random)]
                notification.tag = Array(Self.tags[Int.random(in: 0..<4, using: &random)].utf8)
                submission.add(notification, lanes[lane], acceptedAt: WallTime(milliseconds: Int64(number) * 1000))
                homes.append(lanes[lane])
            }
            _ = try journal.append(submission)
        }
        journal.raiseMark(of: lanes[0], to: UID(UInt64(count / 3)))
        journal.raiseMark(of: lanes[2], to: UID(UInt64(count / 2)))
        var batch = SettlementBatch()
        for (index, lane) in homes.enumerated() {
            let key = EntryKey(lane: lane, uid: UID(UInt64(index) + 1))
            let reason = Self.reasons[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0: batch.acknowledged.append(Acknowledgement(key))
            case 1, 2:
                let attempts = UInt16.random(in: 1...5, using: &random)
                batch.others.append(
                    Settlement(
                        key,
                        .deferUntil(
                            WallTime(milliseconds: Int64.random(in: 0...9, using: &random)), attempts: attempts,
                            reason: reason, possiblySent: attempts > 3)))
            case 3:
                batch.others.append(Settlement(key, .reject(RejectionCause(reason: reason, rejectedAt: acceptance))))
            default: break
            }
        }
        try journal.settle(batch)
        // Some of the deferred are back among the others, with the word of their records.
        for lane in lanes { _ = try journal.promote(lane, now: 4) }
    }

    private func filter(count: UInt64, _ random: inout Xoshiro256) throws -> EntryFilter {
        var filter = EntryFilter()
        func chance() -> Bool { Int.random(in: 0..<4, using: &random) == 0 }
        if chance() {
            let texts = [
                "default", "default/immediate", "b", "default/considerate/at-least-once", "elsewhere", "b/immediate",
            ]
            filter.lanes = [
                try #require(LanePattern(texts[Int.random(in: 0..<6, using: &random)])),
                try #require(LanePattern(texts[Int.random(in: 0..<6, using: &random)])),
            ]
        }
        if chance() { filter.states = filter.states.filter { _ in Bool.random(using: &random) } }
        if chance() {
            filter.uids = UIDRanges(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    let start = UInt64.random(in: 0...count + 20, using: &random)
                    return start...start + UInt64.random(in: 0...30, using: &random)
                })
        }
        if chance() { filter.topics = [Self.topics[Int.random(in: 0..<3, using: &random)], "none.such"] }
        if chance() {
            let token = sample(Int.random(in: 0..<Int(count), using: &random)).recipient.text
            let digits = Int.random(in: 1...5, using: &random)
            filter.tokens = [
                try #require(TokenPattern(token.prefix(digits))), try #require(TokenPattern("\(token.prefix(4))…abab")),
            ]
        }
        if chance() { filter.producers = ["billing"] }
        if chance() {
            filter.tags = [
                TagPattern(["order-1", "order*", "order\\*", "", "*"][Int.random(in: 0..<5, using: &random)])
            ]
        }
        if chance() { filter.acceptedBefore = WallTime(seconds: Int64.random(in: 0...Int64(count), using: &random)) }
        if chance() { filter.acceptedAfter = WallTime(seconds: Int64.random(in: 0...Int64(count), using: &random)) }
        if chance() { filter.reasons = [Reason(rawValue: "toomanyREQUESTS")] }
        if chance() { filter.attempts = Int.random(in: 1...5, using: &random) }
        return filter
    }

    @Test("A * chooses entries that have a tag, and the empty text those that have none")
    func tags() {
        #expect(TagPattern("*").matches(Array("a".utf8)) && !TagPattern("*").matches([]))
        #expect(TagPattern("").matches([]) && !TagPattern("").matches(Array("a".utf8)))
        #expect(TagPattern("a*").matches(Array("a".utf8)) && !TagPattern("a*").matches([]))
        #expect(TagPattern("\\*").matches(Array("*".utf8)) && !TagPattern("\\*").matches([]))
    }

    @Test("Whatever is asked for, what comes is what a plain look at every entry would choose, in UID order")
    func differential() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var random = Xoshiro256(seed: 11)
        let journal = try LMDBJournal(directory: scratch.journal)
        try fill(journal, count: 2500, &random)
        journal.close()
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        let all = try reader.entries(limit: .max)
        #expect(Set(all.map(\.state.kind)).count == 4 && Set(all.map(\.producer)) == ["default", "billing"])
        for round in 0..<150 {
            let filter = try filter(count: 2500, &random)
            let after = Bool.random(using: &random) ? UID.none : UID(UInt64.random(in: 0...2500, using: &random))
            let limit = Bool.random(using: &random) ? Int.max : Int.random(in: 1...1500, using: &random)
            let wanted = all.filter { $0.uid > after && matches(filter, $0) }.prefix(limit).map(\.uid)
            #expect(
                try reader.entries(matching: filter, after: after, limit: limit).map(\.uid) == Array(wanted),
                "round \(round): \(filter)")
            guard after == .none, limit == .max else { continue }
            let tallies = try reader.tally(matching: filter)
            #expect(tallies.reduce(0) { $0 + $1.count } == wanted.count)
            for tally in tallies {
                let same = all.filter {
                    matches(filter, $0) && $0.lane == tally.lane && $0.notification.topic == tally.topic
                        && $0.state.kind == tally.state
                }
                #expect(same.count == tally.count && same.map(\.acceptedAt).min() == tally.oldest)
            }
        }
    }

    @Test(
        "A filter that finds nothing ends its snapshot again and again, and one that knows the UIDs goes there at once")
    func bounded() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        let other = try journal.openLane(considerate).id
        for start in stride(from: 0, to: 60_000, by: 4000) {
            _ = try journal.append(start..<start + 4000, to: lane, payloadByteCount: 30)
        }
        _ = try journal.append(60_000..<60_003, to: other)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        var nothing = EntryFilter()
        nothing.topics = ["none.such"]
        var listing = reader.listing(matching: nothing)
        var pages = 0
        while let page = try listing.next() {
            #expect(page.isEmpty)
            #expect(try journal.slowestReader() == nil)
            pages += 1
        }
        // A snapshot shares some ten thousand looks out among its tables.
        #expect(pages >= 6)
        for change: (inout EntryFilter) -> Void in [
            { filter in filter.uids = UIDRanges([60_001...60_003]) },
            { filter in filter.lanes = [LanePattern("default/considerate")!] },
        ] {
            var filter = EntryFilter()
            filter.topics = ["com.example.app"]
            change(&filter)
            listing = reader.listing(matching: filter)
            #expect(try listing.next()?.map(\.uid) == uids(60_001...60_003))
            #expect(try listing.next() == nil)
        }
    }

    @Test("While entries are put off and come back, a listing gives each of them out once")
    func moving() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        var random = Xoshiro256(seed: 5)
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let lane = try journal.openLane(immediate).id
        _ = try journal.append(0..<12_000, to: lane, payloadByteCount: 30)
        let reader = try JournalReader(directory: scratch.journal)
        defer { reader.close() }
        var listing = reader.listing(matching: EntryFilter())
        var listed: [UID] = []
        while let page = try listing.next() {
            listed += page.map(\.uid)
            var batch = SettlementBatch()
            for _ in 0..<500 {
                let key = EntryKey(lane: lane, uid: UID(UInt64.random(in: 1...12_000, using: &random)))
                batch.others.append(
                    Settlement(
                        key, .deferUntil(WallTime(milliseconds: 1), attempts: 1, reason: .noAnswer, possiblySent: true))
                )
            }
            try journal.settle(batch)
            _ = try journal.promote(lane, now: 2, limit: 300)
        }
        #expect(listed == uids(1...12_000))
    }

    @Test(
        "UIDs are written as numbers and ranges",
        arguments: [
            ("7", "7"), ("10-20,30", "10-20,30"), ("30,10-20", "10-20,30"), ("5-,7", "5-"), ("-20", "0-20"),
            ("1-2,3-4,6", "1-4,6"), ("18446744073709551615", "18446744073709551615"),
        ])
    func ranges(text: String, meant: String) throws {
        #expect(try #require(UIDRanges(text)).description == meant)
    }

    @Test(
        "What is no list of UIDs is none",
        arguments: ["", ",", "1,", "-", "a", "1-2-3", "9-3", "+1", "1 -2", "١", "18446744073709551616"])
    func noRanges(text: String) { #expect(UIDRanges(text) == nil) }

    @Test("What is above a UID is left of a set")
    func above() throws {
        let set = try #require(UIDRanges("1-5,9,20-"))
        #expect(set.above(UID(3)).description == "4-5,9,20-")
        #expect(set.above(UID(9)).description == "20-")
        #expect(set.above(.max).ranges.isEmpty)
        #expect(!UIDRanges([ClosedRange<UInt64>]()).contains(UID(1)))
    }

    @Test("A token is meant by all its digits, by the first ones, and as listings shorten it")
    func tokens() throws {
        let token = try DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
        for text in [token.hex, token.hex.uppercased(), "0", "00f", "00fc", token.shortened, "00fc...e8f0", "00f…0"] {
            #expect(try #require(TokenPattern(text)).matches(token), "\(text)")
        }
        for text in ["1", "00fd", token.hex + "00", "00fc…e8f1", "\(token.hex)…f0"] {
            #expect(try !#require(TokenPattern(text)).matches(token), "\(text)")
        }
        for text in [
            "", "…", "00fc…", "…e8f0", "00fc..e8f0", "0…0…0", "xyz", "00 fc", "00fc....e8f0",
            String(repeating: "0", count: 201),
        ] {
            #expect(TokenPattern(text) == nil, "\(text)")
        }
        // Digits that have two places in one short token are not enough for both.
        #expect(try !#require(TokenPattern("abc…cd")).matches(try DeviceToken("abcd")))
    }
}

extension Submission {
    fileprivate mutating func add(_ notification: PushNotification, _ lane: LaneID, acceptedAt: WallTime) {
        let start = bytes.count
        PackedNotification.append(
            notification, id: NotificationID(high: UInt64(items.count), low: 7), expiration: .at(1_900_000_000),
            acceptedAt: acceptedAt, producer: "", to: &bytes)
        items.append(Item(lane: lane, range: start..<bytes.count))
    }
}
