import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// Records byte for byte, as another program (Python, with the reference xxHash) writes them from Docs/Internals/JournalFormat.md.
/// A change here is a new format version.
@Suite("Golden bytes")
struct GoldenTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).compactMap { offset in
            UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
        }
    }

    @Test("An entry")
    func entry() throws {
        let golden =
            "7f7d5db8e86a2cdc48466e720102030002000000070008000807060504030201100000000001020304050607"
            + "08090a0b0c0d0e0f53687574646f776e"
        let body = [UInt8](0..<16)
        let reason = Array("Shutdown".utf8)
        var record = [UInt8](repeating: 0xFF, count: EntryRecord.byteCount(body: 16, reason: 8))
        var output = record.mutableSpan
        let head = EntryRecord.Head(
            lane: 2, uid: 0x0102_0304_0506_0708, producer: 7, attempts: 3, flags: .hasIdentity)
        EntryRecord.write(head, body: 0..<16, of: body.span, reason: reason.span, into: &output)
        #expect(hex(record) == golden)
        let read = try EntryRecord.read(bytes(golden).span, lane: 2, uid: 0x0102_0304_0506_0708).get()
        #expect(read.head == head)
        #expect(read.body == 36..<52)
        #expect(read.reason == 52..<60)
    }

    @Test("No flipped bit, no missing byte and no other place of an entry goes unnoticed")
    func entryDamage() {
        var record = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: 16))
        var output = record.mutableSpan
        EntryRecord.write(
            EntryRecord.Head(lane: 2, uid: 9, producer: 1), body: 0..<16, of: [UInt8](0..<16).span,
            reason: Span<UInt8>(), into: &output)
        func isSound(_ bytes: [UInt8], lane: UInt32 = 2, uid: UInt64 = 9) -> Bool {
            if case .success = EntryRecord.read(bytes.span, lane: lane, uid: uid) { true } else { false }
        }
        #expect(isSound(record))
        for bit in 0..<record.count * 8 {
            var changed = record
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!isSound(changed), "bit \(bit)")
        }
        for count in 0..<record.count { #expect(!isSound(Array(record[..<count])), "\(count) bytes") }
        #expect(!isSound(record + [0]))
        #expect(!isSound(record, lane: 3))
        #expect(!isSound(record, uid: 8))
    }

    @Test("An entry in quarantine")
    func quarantined() throws {
        let golden: [(String, QuarantineRecord)] = [
            (
                "d7c965515b2d5607484671750101000003000000070015007b68e5cf8b010000080706050403020105000000"
                    + "0000000069747320636865636b73756d2069732077726f6e670001020304",
                QuarantineRecord(
                    uid: 0x0102_0304_0506_0708, lane: 3, producer: 7, fault: .damaged("its checksum is wrong"),
                    isPossiblySent: true, at: acceptance, record: [0, 1, 2, 3, 4])
            ),
            (
                "5aefc40844211df6484671750100090003000000070000007b68e5cf8b010000080706050403020105000000"
                    + "000000000001020304",
                QuarantineRecord(
                    uid: 0x0102_0304_0506_0708, lane: 3, producer: 7, fault: .newerVersion(9),
                    isPossiblySent: false, at: acceptance, record: [0, 1, 2, 3, 4])
            ),
        ]
        for (text, record) in golden {
            #expect(hex(record.bytes) == text)
            let read = try QuarantineRecord(bytes(text), uid: record.uid)
            #expect(read.fault == record.fault && read.isPossiblySent == record.isPossiblySent)
            #expect(read.lane == 3 && read.producer == 7 && read.at == record.at && read.record == record.record)
            #expect(throws: EntryRecord.Fault.self) { try QuarantineRecord(bytes(text), uid: 8) }
        }
    }

    @Test("An entry that is kept aside, and its place in the order of time")
    func aside() throws {
        let golden: [(String, since: Int64, keepsOutcome: Bool, record: [UInt8])] = [
            ("503705bd5e930a5948466173010100007b68e5cf8b0100000001020304", 1_700_000_000_123, true, [0, 1, 2, 3, 4]),
            ("3391a551f8e26bfe4846617301000000feffffffffffffff", -2, false, []),
        ]
        for (text, since, keepsOutcome, record) in golden {
            let row = AsideRecord.bytes(
                since: WallTime(milliseconds: since), keepsOutcome: keepsOutcome, record: record.span)
            #expect(hex(row) == text)
            let read = try AsideRecord.read(bytes(text).span).get()
            #expect(read.since == since && read.keepsOutcome == keepsOutcome)
            #expect(AsideRecord.entry(bytes(text).span) == record)
            for bit in 0..<row.count * 8 {
                var changed = row
                changed[bit / 8] ^= 1 << (bit % 8)
                if case .success = AsideRecord.read(changed.span) { Issue.record("bit \(bit)") }
            }
        }
        let places: [(String, Int64)] = [
            ("7ffffffffffffffe000000030102030405060708", -2),
            ("8000018bcfe5687b000000030102030405060708", 1_700_000_000_123),
        ]
        for (text, since) in places {
            let place = Key.aside(since: since, 3, 0x0102_0304_0506_0708)
            #expect(hex(place.span.array) == text)
            #expect(place.span.asideTime == since)
        }
    }

    @Test("An entry of a newer version is told from damage")
    func newer() {
        var record = bytes("0000000000000000" + "48466e72" + "02" + String(repeating: "00", count: 40))
        var output = record.mutableSpan
        output.store(XXH64.hash(output.span, from: 8), at: 0)
        guard case .failure(.newer(2)) = EntryRecord.read(record.span, lane: 0, uid: 0) else {
            Issue.record("not told apart")
            return
        }
    }

    @Test("A lane: of version 1, paused, and with entries that a pause of their tag holds")
    func lane() throws {
        let golden =
            "7d417104ccad4f2348466c6e0101000705000000000000000900000000000000040000000000000002000000"
            + "000000000300000000000000010000000000000064656661756c74"
        var lane = LaneRecord(key: LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce))
        (lane.mark, lane.lastUID, lane.entries, lane.deferred) = (5, 9, 4, 2)
        (lane.flaggedEntries, lane.flaggedDeferred) = (3, 1)
        #expect(try LaneRecord(bytes(golden)) == lane)
        let paused =
            "a7bed3f459a20ccc48466c6e0201000705000000000000000900000000000000040000000000000002000000"
            + "00000000030000000000000001000000000000000100" + "07007b68e5cf8b01000064656661756c746f6e2063616c6c"
        lane.state = .paused(reason: "on call", since: WallTime(milliseconds: 1_700_000_000_123))
        #expect(hex(lane.bytes) == paused)
        #expect(try LaneRecord(bytes(paused)) == lane)
        let held =
            "7509b1e57751de8b48466c6e0401000705000000000000000900000000000000040000000000000002000000"
            + "0000000003000000000000000100000000000000010007007b68e5cf8b010000"
            + "0100000000000000010000000000000064656661756c746f6e2063616c6c"
        (lane.scheduled, lane.held) = (1, 1)
        #expect(hex(lane.bytes) == held)
        #expect(try LaneRecord(bytes(held)) == lane)
    }

    @Test("The journal's facts, of one in use and of a new one")
    func facts() throws {
        let golden =
            "6e6629a04bf9a45048466661010300002a000000000000000100000000000000020000000000000003000000"
            + "0000000004000000000000000500000000000000060000000000000007000000000000000800000000000000"
            + "7b68e5cf8b010000887766554433221100ffeeddccbbaa99"
        var facts = FactsRecord(identityKey: IdentityKey(first: 0x1122_3344_5566_7788, second: 0x99AA_BBCC_DDEE_FF00))
        (facts.nextUID, facts.openings, facts.closedInOrder) = (42, 8, true)
        facts.totals = Self.totals
        facts.wallTime = WallTime(milliseconds: 1_700_000_000_123)
        #expect(hex(facts.bytes) == golden)
        #expect(try FactsRecord(bytes(golden)) == facts)
        let new =
            "734dade424147405484666610100000001000000000000000000000000000000000000000000000000000000"
            + "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
            + "000000000000000001000000000000000200000000000000"
        #expect(hex(FactsRecord(identityKey: IdentityKey(first: 1, second: 2)).bytes) == new)
        #expect(try FactsRecord(bytes(new)).wallTime == nil)
    }

    private static var totals: JournalTotals {
        var totals = JournalTotals()
        (totals.accepted, totals.confirmed, totals.rejected, totals.expired) = (1, 2, 3, 4)
        (totals.unknown, totals.withdrawn, totals.possibleDuplicates) = (5, 6, 7)
        return totals
    }

    @Test("A Producer")
    func producer() throws {
        let golden =
            "6d13bcdbe59b71b2484670720105000009000000000000000100000000000000020000000000000003000000"
            + "0000000004000000000000000500000000000000060000000000000007000000000000006261746368"
        let record = ProducerRecord(
            name: "batch", figures: ProducerFigures(unconfirmed: 9, totals: Self.totals))
        #expect(hex(record.bytes) == golden)
        #expect(try ProducerRecord(bytes(golden)) == record)
    }

    @Test("An outcome as older versions kept it: of a rejection, of a confirmation and of a broadcast")
    func outcomes() throws {
        let rejected =
            "1b5fa61dad8343ec48466f63010203049a010c0003000700e86be5cf8b0100000068e5cf8b010000e76be5cf"
            + "8b01000011111111111111112222222222222222deadbeef090807556e72656769737465726564"
        let confirmed =
            "897a1b28c18985d848466f63010100040000000003000700e86be5cf8b010000000000000000000000000000"
            + "0000000011111111111111112222222222222222deadbeef090807"
        let broadcast =
            "344f3dc06c93ffc948466f63020205149001140003000700e86be5cf8b0100000000000000000000e76be5cf"
            + "8b0100001111111111111111222222222222222264484e304c584e79593267745932687562413d3d09080743"
            + "68616e6e656c4e6f7452656769737465726564"
        let uid: UInt64 = 0x0102_0304_0506_0708
        let token = Recipient.device(try DeviceToken("deadbeef"))
        let channel = Recipient.channel(try BroadcastChannel("dHN0LXNyY2gtY2hubA=="))
        let cause = RejectionCause(
            reason: .unregistered, status: 410, timestamp: WallTime(milliseconds: 1_700_000_000_000),
            rejectedAt: WallTime(milliseconds: 1_700_000_000_999))
        let settledAt = WallTime(milliseconds: 1_700_000_001_000)
        let missing = RejectionCause(
            reason: .channelNotRegistered, status: 400, rejectedAt: WallTime(milliseconds: 1_700_000_000_999))
        let endings: [(String, Recipient, TerminalOutcome, RejectionCause?)] = [
            (rejected, token, .rejected(.unregistered), cause), (confirmed, token, .confirmed, nil),
            (broadcast, channel, .rejected(.channelNotRegistered), missing),
        ]
        for (golden, recipient, terminal, cause) in endings {
            let names = (1...7).map { "producer \($0)" }
            let read = try OutcomeRecord.read(bytes(golden), uid: uid, producers: names)
            #expect(
                read
                    == Outcome(
                        uid: UID(uid), terminal: terminal, cause: cause,
                        history: DeliveryHistory(acceptedAt: settledAt, settledAt: settledAt, attempts: 1),
                        id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222),
                        recipient: recipient, topic: "", producer: "producer 7", tag: [9, 8, 7]))
            #expect(throws: EntryRecord.Fault.self) {
                try OutcomeRecord.read(bytes(golden), uid: uid + 1, producers: names)
            }
        }
    }

    @Test("A remembered identity: unconfirmed, expired, rejected")
    func identities() throws {
        let goldens: [(String, TerminalOutcome?)] = [
            (
                "dfca79f81df157364846696401000000887766554433221100ffeeddccbbaa997b68e5cf8b010000",
                nil
            ),
            (
                "08e51114bbb57acd4846696401030000887766554433221100ffeeddccbbaa997b68e5cf8b010000",
                .expired
            ),
            (
                "fb3668edb41f92754846696401020c00887766554433221100ffeeddccbbaa997b68e5cf8b010000556e7265"
                    + "6769737465726564",
                .rejected(.unregistered)
            ),
        ]
        let uid: UInt64 = 0x0102_0304_0506_0708
        let identity = Identity(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
        for (golden, outcome) in goldens {
            let record = IdentityRecord(identity: identity, acceptedAt: acceptance.milliseconds, outcome: outcome)
            #expect(hex(record.bytes(uid: uid)) == golden)
            #expect(IdentityRecord(bytes(golden).span, uid: uid) == record)
            #expect(IdentityRecord(bytes(golden).span, uid: uid + 1) == nil)
            for bit in 0..<golden.utf8.count * 4 {
                var changed = bytes(golden)
                changed[bit / 8] ^= 1 << (bit % 8)
                #expect(IdentityRecord(changed.span, uid: uid) == nil, "bit \(bit)")
            }
            if case .rejected = outcome { continue }
            var written = [UInt8](repeating: 0xFF, count: IdentityRecord.byteCount)
            var output = written.mutableSpan
            IdentityRecord.write(
                identity, acceptedAt: acceptance.milliseconds, code: OutcomeCode.code(of: outcome), uid: uid,
                into: &output)
            #expect(hex(written) == golden)
        }
    }

    @Test("A rejection, the service's and our own")
    func rejections() throws {
        let full =
            "d5b7e0530131eba84846726a010390010068e5cf8b010000e86be5cf8b0100000e0000000300000042616444"
            + "6576696365546f6b656eaabbcc"
        let bare =
            "09ac79c1cc94ffbc4846726a010000000000000000000000e86be5cf8b0100000e0000000300000042616444"
            + "6576696365546f6b656eaabbcc"
        let time = WallTime(milliseconds: 1_700_000_001_000)
        let causes = [
            (
                full,
                RejectionCause(
                    reason: .badDeviceToken, status: 400, timestamp: WallTime(milliseconds: 1_700_000_000_000),
                    rejectedAt: time)
            ),
            (bare, RejectionCause(reason: .badDeviceToken, rejectedAt: time)),
        ]
        for (golden, cause) in causes {
            #expect(hex(RejectionRecord.bytes(cause, record: [0xAA, 0xBB, 0xCC])) == golden)
            let read = try RejectionRecord.read(bytes(golden).span).get()
            #expect(read.cause == cause)
            #expect(Array(bytes(golden)[read.record]) == [0xAA, 0xBB, 0xCC])
        }
    }

    @Test("A note")
    func note() throws {
        let golden = "00af7cbf3a21d9b348466e7401010203"
        #expect(try NoteRecord.value(bytes(golden), name: Array("any".utf8)) == [1, 2, 3])
        // Version 2: under another's name it is damage.
        let bound = "a915b8df4370223148466e7402010203"
        #expect(hex(NoteRecord.bytes([1, 2, 3], name: Array("any".utf8))) == bound)
        #expect(try NoteRecord.value(bytes(bound), name: Array("any".utf8)) == [1, 2, 3])
        #expect(throws: EntryRecord.Fault.self) { try NoteRecord.value(bytes(bound), name: Array("ano".utf8)) }
    }

    @Test("The limit, with and without a checksum")
    func limit() throws {
        let golden = "0000000004000000c970c8de90bc225b"
        let key = Array("limit".utf8)
        #expect(hex(NumberRecord.bytes(16 << 30, key: key)) == golden)
        #expect(try #require(NumberRecord.value(bytes(golden), key: key)) == (16 << 30, true))
        #expect(try #require(NumberRecord.value(bytes("0000000004000000"), key: key)) == (16 << 30, false))
        for bit in 0..<128 {
            var changed = bytes(golden)
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(NumberRecord.value(changed, key: key) == nil)
        }
    }

    @Test("A blacklist entry")
    func token() throws {
        let golden =
            "21cd36a0a3d1f2af4846746b01070c000068e5cf8b010000e76be5cf8b010000556e72656769737465726564"
            + "64656661756c74"
        let token = try DeviceToken("deadbeef")
        let entry = BlacklistEntry(
            token: token, reason: .unregistered, since: WallTime(milliseconds: 1_700_000_000_000),
            learntAt: WallTime(milliseconds: 1_700_000_000_999), route: "default")
        #expect(try TokenRecord.read(bytes(golden), token: token) == entry)
        // An entry for every topic and service is written as version 2.
        let plain =
            "e30d16e4221b2df84846746b02070c000068e5cf8b010000e76be5cf8b010000000000000000000000556e72"
            + "65676973746572656464656661756c74"
        #expect(hex(TokenRecord.bytes(entry, token)) == plain)
        #expect(try TokenRecord.read(bytes(plain), token: token) == entry)
        let numbered =
            "f0fae0b5a876b81d4846746b02070c000068e5cf8b010000e76be5cf8b01000008070605040302010f556e72"
            + "65676973746572656464656661756c74636f6d2e6578616d706c652e617070"
        var other = entry
        (other.topic, other.number) = ("com.example.app", 0x0102_0304_0506_0708)
        #expect(try TokenRecord.read(bytes(numbered), token: token) == other)
    }

    @Test("A blacklist entry for a topic and a service")
    func scopedToken() throws {
        let golden =
            "f816cb69253025e54846746b03070e000068e5cf8b010000e76be5cf8b01000009000000000000000f001e00"
            + "040f90014d00000000000000deadbeef426164446576696365546f6b656e64656661756c74636f6d2e657861"
            + "6d706c652e61707068747470733a2f2f6170692e707573682e6170706c652e636f6d3a343433"
        let token = try DeviceToken("deadbeef")
        let entry = BlacklistEntry(
            token: token, reason: .badDeviceToken,
            since: WallTime(milliseconds: 1_700_000_000_000), learntAt: WallTime(milliseconds: 1_700_000_000_999),
            route: "default", topic: "com.example.app", endpoint: "https://api.push.apple.com:443", status: 400,
            answered: UID(77), number: 9)
        #expect(hex(TokenRecord.bytes(entry, token)) == golden)
        #expect(try TokenRecord.read(bytes(golden), token: token) == entry)
        // An empty topic is a topic, and no wildcard.
        let empty =
            "b6e46a9bcc8c805b4846746b030808000068e5cf8b010000e76be5cf8b0100000a0000000000000000000000"
            + "040100000000000000000000deadbeef4f70657261746f726f70657261746f72"
        let other = BlacklistEntry(
            token: token, reason: Reason(rawValue: "Operator"), since: entry.since, learntAt: entry.learntAt,
            route: "operator", topic: "", number: 10)
        #expect(hex(TokenRecord.bytes(other, token)) == empty)
        #expect(try TokenRecord.read(bytes(empty), token: token) == other)
    }

    @Test("Keys sort as their numbers do")
    func keys() {
        func array<let count: Int>(_ key: InlineArray<count, UInt8>) -> [UInt8] { key.indices.map { key[$0] } }
        #expect(hex(array(Key.entry(2, 0x0102_0304_0506_0708))) == "000000020102030405060708")
        #expect(hex(array(Key.uid(258))) == "0000000000000102")
        #expect(hex(array(Key.deferred(1, due: 5, 7))) == "0000000180000000000000050000000000000007")
        #expect(hex(array(Key.deferred(1, due: -1, 7))) == "000000017fffffffffffffff0000000000000007")
    }
}
