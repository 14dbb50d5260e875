import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// Records byte for byte, as another program (Python, with the reference xxHash) writes them from Docs/JournalFormat.md.
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
            "618cdaa418dd93d648466e7201080300020000001000000008070605040302017b68e5cf8b01000000010203"
            + "0405060708090a0b0c0d0e0f53687574646f776e"
        let body = [UInt8](0..<16)
        let reason = Array("Shutdown".utf8)
        var record = [UInt8](repeating: 0xFF, count: EntryRecord.byteCount(body: 16, reason: 8))
        var output = record.mutableSpan
        EntryRecord.write(
            lane: 2, uid: 0x0102_0304_0506_0708, attempts: 3, acceptedAt: 1_700_000_000_123, body: 0..<16,
            of: body.span,
            reason: reason.span, into: &output)
        #expect(hex(record) == golden)
        let read = try EntryRecord.read(bytes(golden).span, lane: 2, uid: 0x0102_0304_0506_0708).get()
        #expect(read.attempts == 3)
        #expect(read.acceptedAt == 1_700_000_000_123)
        #expect(read.body == 40..<56)
        #expect(read.reason == 56..<64)
    }

    @Test("No flipped bit, no missing byte and no other place of an entry goes unnoticed")
    func entryDamage() {
        var record = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: 16))
        var output = record.mutableSpan
        EntryRecord.write(
            lane: 2, uid: 9, attempts: 0, acceptedAt: 5, body: 0..<16, of: [UInt8](0..<16).span, reason: Span<UInt8>(),
            into: &output)
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

    @Test("A lane")
    func lane() throws {
        let golden =
            "0c2a60f23d080c7148466c6e0101000705000000000000000900000000000000040000000000000002000000"
            + "0000000064656661756c74"
        var lane = LaneRecord(key: LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce))
        (lane.mark, lane.lastUID, lane.entries, lane.deferred) = (5, 9, 4, 2)
        #expect(hex(lane.bytes) == golden)
        #expect(try LaneRecord(bytes(golden)) == lane)
    }

    @Test("The journal's facts")
    func facts() throws {
        let golden =
            "37814f817cc10a0d48466661010100002a000000000000000100000000000000020000000000000003000000"
            + "0000000004000000000000000500000000000000060000000000000007000000000000000800000000000000"
        var facts = FactsRecord()
        (facts.nextUID, facts.openings, facts.closedInOrder) = (42, 8, true)
        (facts.totals.accepted, facts.totals.confirmed, facts.totals.rejected, facts.totals.expired) = (1, 2, 3, 4)
        (facts.totals.unknown, facts.totals.withdrawn, facts.totals.possibleDuplicates) = (5, 6, 7)
        #expect(hex(facts.bytes) == golden)
        #expect(try FactsRecord(bytes(golden)) == facts)
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
        #expect(hex(NoteRecord.bytes([1, 2, 3])) == golden)
        #expect(try NoteRecord.value(bytes(golden)) == [1, 2, 3])
    }

    @Test("A blacklist entry")
    func token() throws {
        let golden =
            "21cd36a0a3d1f2af4846746b01070c000068e5cf8b010000e76be5cf8b010000556e72656769737465726564"
            + "64656661756c74"
        let entry = BlacklistEntry(
            token: try DeviceToken("deadbeef"), reason: .unregistered, since: WallTime(milliseconds: 1_700_000_000_000),
            learntAt: WallTime(milliseconds: 1_700_000_000_999), route: "default")
        #expect(hex(TokenRecord.bytes(entry)) == golden)
        #expect(try TokenRecord.read(bytes(golden), token: entry.token) == entry)
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
