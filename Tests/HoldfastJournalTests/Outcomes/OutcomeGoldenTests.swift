import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// Records of the log of outcomes byte for byte, as another program (Python) writes them from Docs/Internals/JournalFormat.md.
@Suite("Golden bytes of the log of outcomes")
struct OutcomeGoldenTests {
    private static let block =
        "d539a2d4a90b9a2848466f6201000400faff0000000000001768e5cf8b0100007c68e5cf8b0100000d010000"
        + "0000000041909cb0d080c181820211111111111111112222222222222222f6a1abfef962904e140107000f63"
        + "6f6d2e6578616d706c652e61707007737072696e6704deadbeef920101000000000000000200000000000000"
        + "c701e86b03ac0201011464484e304c584e79593267745932687562413d3d220f039a0380a0abfef9620e0c55"
        + "6e7265676973746572656402010203752d31027b7d240403000000000000000400000000000000ca01020001"
        + "000770726f6a65637400010463587931050e0500000000000000060000000000000000020001010761757475"
        + "6d6e0200ff"
    private static let time: Int64 = 1_700_000_000_123

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.bytes(hex)) }

    /// The outcomes of the block.
    private func outcomes() throws -> [Outcome] {
        func history(_ accepted: Int64, _ sent: Int64?, _ settled: Int64, _ attempts: Int) -> DeliveryHistory {
            DeliveryHistory(
                acceptedAt: WallTime(milliseconds: Self.time + accepted),
                sentAt: sent.map { WallTime(milliseconds: Self.time + $0) },
                settledAt: WallTime(milliseconds: Self.time + settled), attempts: attempts)
        }
        let cause = RejectionCause(
            reason: .unregistered, status: 410, timestamp: WallTime(milliseconds: 1_700_000_000_000),
            rejectedAt: WallTime(milliseconds: Self.time - 107))
        let installation = try ServiceAddress(.firebaseInstallation, bytes: Array("cXy1".utf8))
        return [
            Outcome(
                cursor: OutcomeCursor(65530), uid: UID(0x0102_0304_0506_0708), terminal: .confirmed,
                history: history(-5000, -20, 0, 1),
                id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222),
                recipient: .device(try DeviceToken("deadbeef")), topic: "com.example.app", producer: "p7",
                tag: Array("spring".utf8)),
            Outcome(
                cursor: OutcomeCursor(65531), uid: UID(0x0102_0304_0506_0707), terminal: .rejected(.unregistered),
                cause: cause, history: history(-7000, nil, -100, 3), id: NotificationID(high: 1, low: 2),
                recipient: .channel(try BroadcastChannel("dHN0LXNyY2gtY2hubA==")), topic: "com.example.app",
                producer: "p300", tag: Array("spring".utf8), context: [1, 2], uniqueID: "u-1",
                payload: Array("{}".utf8)),
            Outcome(
                cursor: OutcomeCursor(65532), uid: UID(0x0102_0304_0506_0709), terminal: .unknown,
                history: history(0, nil, 1, 0), id: NotificationID(high: 3, low: 4),
                recipient: .service(installation), topic: "project", producer: "p1"),
            Outcome(
                cursor: OutcomeCursor(65533), uid: UID(0x0102_0304_0506_0710), terminal: .withdrawn,
                history: history(0, nil, 1, 0), id: NotificationID(high: 5, low: 6),
                recipient: .device(try DeviceToken("00ff")), topic: "com.example.app", producer: "p1",
                tag: Array("autumn".utf8)),
        ]
    }

    private static let names = (1...300).map { "p\($0)" }

    @Test("A block of outcomes: confirmed, rejected with all that one can have, unknown, withdrawn")
    func blocks() throws {
        let golden = try bytes(Self.block)
        let header = try OutcomeBlockHeader.read(golden.span, key: 65530).get()
        #expect(header.count == 4 && header.last == 65533)
        #expect(header.settledFrom == Self.time - 100 && header.settledTo == Self.time + 1)
        var scanner = OutcomeScanner(header, golden.span)
        var read: [Outcome?] = []
        while true {
            let number = scanner.number
            guard let row = scanner.next(golden.span) else { break }
            read.append(row.outcome(number, golden.span, producers: Self.names))
        }
        #expect(!scanner.isBroken)
        let expected = try outcomes()
        #expect(read == expected)
        expectSameKeys(golden, header)
        var writer = OutcomeBlockWriter(first: 65530)
        for outcome in expected {
            let producer = UInt16(outcome.producer.dropFirst()) ?? 0
            let (row, source, extras) = OutcomeRow.packed(outcome, producer: producer)
            let isAdded = writer.append(row, in: source.span, extras: extras.span)
            #expect(isAdded)
        }
        #expect(Hex.string(writer.image()) == Self.block)
        guard case .failure = OutcomeBlockHeader.read(golden.span, key: 65531) else {
            Issue.record("a block under another's key is damage")
            return
        }
    }

    @Test("No flipped bit and no missing byte of a block goes unnoticed")
    func damage() throws {
        let golden = try bytes(Self.block)
        func isSound(_ bytes: [UInt8]) -> Bool {
            if case .success = OutcomeBlockHeader.read(bytes.span) { true } else { false }
        }
        #expect(isSound(golden))
        for bit in 0..<golden.count * 8 {
            var changed = golden
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!isSound(changed), "bit \(bit)")
        }
        for count in 0..<golden.count { #expect(!isSound(Array(golden[..<count])), "\(count) bytes") }
        #expect(!isSound(golden + [0]))
    }

    @Test("Blocks whose checksum fits and whose bytes make no sense crash nobody", arguments: 0..<200 as Range<UInt64>)
    func nonsense(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        let golden = try bytes(Self.block)
        for _ in 0..<50 {
            var block = golden
            if Bool.random(using: &random) { block.removeLast(Int.random(in: 1...200, using: &random)) }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                block[Int.random(in: 12..<block.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            let isSealed = Bool.random(using: &random)
            if isSealed {
                block[12] = 1
                let count = UInt32(block.count)
                var span = block.mutableSpan
                span.store(count, at: 40)
                span.store(XXH64.hash(span.span, from: 8), at: 0)
            }
            read(block)
        }
    }

    /// Expects that an index finds in a block what is read from it, and stops where that makes no sense.
    private func expectSameKeys(_ block: [UInt8], _ header: OutcomeBlockHeader) {
        var (rows, keys) = (OutcomeScanner(header, block.span), OutcomeScanner(header, block.span))
        var row: OutcomeRow?
        repeat {
            row = rows.next(block.span)
            let its = keys.nextKeys(block.span)
            #expect(its == row.map(OutcomeKeys.init))
            #expect(keys.position == rows.position && keys.isBroken == rows.isBroken)
        } while row != nil
    }

    private func read(_ block: [UInt8]) {
        _ = OutcomeBlock.byteCount(block.span, at: 0)
        guard case .success(let header) = OutcomeBlockHeader.read(block.span) else { return }
        var scanner = OutcomeScanner(header, block.span)
        var index = SegmentIndex(OutcomeBlock.segment(of: header.first), OutcomeHash(IdentityKey(first: 1, second: 2)))
        while let row = scanner.next(block.span) { _ = row.outcome(1, block.span, producers: Self.names) }
        expectSameKeys(block, header)
        index.add(block.span, header)
        _ = index.rows()
        _ = OutcomeBlockWriter(resuming: block, header)
    }

    @Test("The bounds of the log, a reader, a bucket and a summary")
    func others() throws {
        let bounds = "f51953f60892f52e48466f6c01000000050000000000000070110100000000000100000000000000"
        var log = OutcomeLogBounds()
        (log.deleted, log.newest, log.unindexed) = (5, 70000, 1)
        #expect(Hex.string(log.bytes) == bounds)
        #expect(try OutcomeLogBounds(try bytes(bounds)) == log)
        let reader = "7c3d9ccec66e865548466f72010100002a00000000000000"
        let hook = OutcomeReader(name: "hook", cursor: OutcomeCursor(42), isWaitedFor: true)
        #expect(Hex.string(OutcomeReaderRecord.bytes(hook)) == reader)
        #expect(try OutcomeReaderRecord.read(try bytes(reader), name: Array("hook".utf8)) == hook)
        #expect(throws: EntryRecord.Fault.self) {
            try OutcomeReaderRecord.read(try bytes(reader), name: Array("honk".utf8))
        }
        let summary =
            "6732465b67546f1748466f730100340103000000040302011768e5cf8b0100007c68e5cf8b01000000000100"
            + "4c040000"
        let segment = SegmentSummary(
            segment: 3, buckets: 308, check: 0x0102_0304, settledFrom: Self.time - 100, settledTo: Self.time + 1,
            outcomes: 65536, blocks: 1100)
        #expect(Hex.string(segment.bytes) == summary)
        func read(summary number: UInt64) throws -> SegmentSummary {
            let golden = try bytes(summary)
            return try SegmentSummary.read(golden.span, segment: number)
        }
        #expect(try read(summary: 3) == segment)
        #expect(throws: EntryRecord.Fault.self) { try read(summary: 4) }
    }

    @Test("What a bucket says of keys that it has, lacks, or has everywhere")
    func bucket() throws {
        let golden = try bytes("f16df63f2d3e20db48466f6901000200010000000000cdab07003412efbe")
        let key = Key.outcomeIndex(3, 9)
        func look(_ mark: UInt64) -> OutcomeBucket.Answer {
            OutcomeBucket.look(for: 0x1234_5678_0000_0000 | mark << 16 | 0x77, in: golden.span, key: key.span)
        }
        #expect(look(0xABCD) == .blocks([0]))
        #expect(look(0x1234) == .blocks([7]))
        #expect(look(0xBEEF) == .anywhere)
        #expect(look(0xBEEE) == .nowhere)
        // Damage says nothing, and under another key it is damage.
        let other = Key.outcomeIndex(3, 10)
        func look(in bytes: [UInt8], _ key: InlineArray<6, UInt8>) -> OutcomeBucket.Answer {
            OutcomeBucket.look(for: 0xBEEE_0000, in: bytes.span, key: key.span)
        }
        #expect(look(in: golden, other) == .anywhere)
        for bit in 0..<golden.count * 8 {
            var changed = golden
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(look(in: changed, key) == .anywhere, "bit \(bit)")
        }
    }
}

extension OutcomeKeys {
    fileprivate init(_ row: OutcomeRow) {
        self.init(
            uid: row.uid, idHigh: row.idHigh, idLow: row.idLow, producer: row.producer, kind: row.kind,
            service: row.service, topic: row.topic, recipient: row.recipient, tag: row.tag)
    }
}
