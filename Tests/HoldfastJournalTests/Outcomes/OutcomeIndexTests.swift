import Holdfast
import HoldfastAPNsAnswers
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// The index of one segment by itself.
@Suite("The index of a segment of outcomes")
struct OutcomeIndexTests {
    private static let hash = OutcomeHash(IdentityKey(first: 0x1122_3344_5566_7788, second: 42))

    /// Outcome `number` of a segment; its tag and topic are shared by some, its Producer by all.
    private func outcome(_ number: UInt64, tags: UInt64 = 100, topics: UInt64 = 1) throws -> Outcome {
        var token = [UInt8](repeating: 7, count: 32)
        for index in 0..<8 { token[index] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))) }
        return Outcome(
            uid: UID(number * 3), terminal: .confirmed,
            history: DeliveryHistory(
                acceptedAt: acceptance, settledAt: WallTime(milliseconds: Int64(number)), attempts: 1),
            id: NotificationID(high: number, low: 9), recipient: .device(try #require(DeviceToken(bytes: token))),
            topic: "com.example.app\(number % topics)", producer: "default", tag: Array("tag \(number / tags)".utf8))
    }

    /// Blocks with outcomes of the first segment, and its index.
    private func build(
        _ numbers: ClosedRange<UInt64>, tags: UInt64 = 100, topics: UInt64 = 1
    ) throws -> (blocks: [(header: OutcomeBlockHeader, bytes: [UInt8])], rows: [[UInt8]: [UInt8]]) {
        var blocks: [(header: OutcomeBlockHeader, bytes: [UInt8])] = []
        var writer = OutcomeBlockWriter(first: numbers.lowerBound)
        func finish(_ writer: consuming OutcomeBlockWriter) throws {
            let image = writer.image()
            blocks.append((try OutcomeBlockHeader.read(image.span).get(), image))
        }
        for number in numbers {
            let (row, source, extras) = OutcomeRow.packed(
                try outcome(number, tags: tags, topics: topics), producer: 1)
            if writer.append(row, in: source.span, extras: extras.span) { continue }
            try finish(writer)
            writer = OutcomeBlockWriter(first: number)
            let isAdded = writer.append(row, in: source.span, extras: extras.span)
            #expect(isAdded)
        }
        try finish(writer)
        var index = SegmentIndex(0, Self.hash)
        for (header, bytes) in blocks { index.add(bytes.span, header) }
        var rows: [[UInt8]: [UInt8]] = [:]
        for row in index.rows() {
            #expect(row.value.count <= OutcomeBlock.capacity)
            rows[row.key.span.array] = row.value
        }
        return (blocks, rows)
    }

    private func look(_ hash: UInt64, in rows: [[UInt8]: [UInt8]]) throws -> OutcomeBucket.Answer {
        let key = Key.outcomeIndex(0, SegmentSummary.place)
        let row = try #require(rows[key.span.array])
        let summary = try SegmentSummary.read(row.span, segment: 0)
        #expect(summary.check == Self.hash.check)
        let place = Key.outcomeIndex(0, OutcomeBucket.place(of: hash, of: summary.buckets))
        let bucket = try #require(rows[place.span.array])
        return OutcomeBucket.look(for: hash, in: bucket.span, key: place.span)
    }

    private func blocks(_ answer: OutcomeBucket.Answer) -> [UInt16]? {
        if case .blocks(let blocks) = answer { blocks } else { nil }
    }

    @Test("Each key of each outcome leads to its block, and few others lead anywhere")
    func keys() throws {
        let (all, rows) = try build(1...20_000)
        for (header, bytes) in all {
            let block = UInt16(header.first - 1)
            var scanner = OutcomeScanner(header, bytes.span)
            while let row = scanner.next(bytes.span) {
                let hashes = [
                    Self.hash.uid(row.uid), Self.hash.id(row.idHigh, row.idLow),
                    Self.hash.recipient(bytes.span, row.recipient, kind: row.kind, service: row.service),
                    Self.hash.tag(bytes.span, row.tag),
                ]
                for hash in hashes { #expect(try blocks(look(hash, in: rows))?.contains(block) == true) }
            }
        }
        var wrong = 0
        for number in 1...2000 as ClosedRange<UInt64> {
            if try look(Self.hash.uid(number * 3 + 1), in: rows) != .nowhere { wrong += 1 }
        }
        // 840 entries of a bucket among 65 536 marks.
        #expect(wrong < 80)
    }

    @Test("A topic in all blocks is noted as being everywhere, and one in few blocks leads to those")
    func shared() throws {
        let (all, rows) = try build(1...65_536)
        let topic = Array("com.example.app0".utf8)
        #expect(all.count > OutcomeBucket.greatestCount)
        let hash = Self.hash.topic(topic.span, 0..<topic.count)
        #expect(try look(hash, in: rows) == .anywhere)
        #expect(try look(Self.hash.producer(1), in: rows) == .anywhere)
        #expect(try look(Self.hash.producer(2), in: rows) != .anywhere)
        let (few, others) = try build(1...1000)
        let places = few.map { UInt16($0.header.first - 1) }
        #expect(try look(hash, in: others) == .blocks(places))
    }

    @Test("A bucket with more different keys than fit says nothing, and is small")
    func overfull() {
        let key = Key.outcomeIndex(0, 1)
        let entries = (0..<2000 as Range<UInt32>).map { $0 << 16 | 5 }
        let bytes = OutcomeBucket.bytes(entries[...], key: key.span)
        #expect(bytes.count < 100)
        func look(_ mark: UInt64, _ bytes: [UInt8]) -> OutcomeBucket.Answer {
            OutcomeBucket.look(for: mark << 16, in: bytes.span, key: key.span)
        }
        #expect(look(3, bytes) == .anywhere)
        // Repeats take no room.
        let repeats = (0..<4000 as Range<UInt32>).map { ($0 % 500) << 16 | 5 }
        let thinned = OutcomeBucket.bytes(repeats[...], key: key.span)
        #expect(look(499, thinned) == .blocks([5]))
        #expect(look(500, thinned) == .nowhere)
    }

    @Test("A block ends with its segment, and one that was written before is filled on as if it had not been")
    func segmentEnd() throws {
        var writer = OutcomeBlockWriter(first: 65_530)
        var numbers: [UInt64] = []
        for number in 65_530...65_540 as ClosedRange<UInt64> {
            let (row, source, extras) = OutcomeRow.packed(try outcome(number), producer: 1)
            guard writer.append(row, in: source.span, extras: extras.span) else { break }
            numbers.append(number)
            let image = writer.image()
            let header = try OutcomeBlockHeader.read(image.span, key: 65_530).get()
            #expect(header.last == number)
            if let resumed = OutcomeBlockWriter(resuming: image, header) { writer = resumed }
        }
        #expect(numbers == Array(65_530...65_536))
        var whole = OutcomeBlockWriter(first: 65_530)
        for number in numbers {
            let (row, source, extras) = OutcomeRow.packed(try outcome(number), producer: 1)
            _ = whole.append(row, in: source.span, extras: extras.span)
        }
        #expect(whole.image() == writer.image())
    }

    @Test("An outcome that is larger than a page has a block of its own, up to the greatest of all")
    func large() throws {
        for (payload, context) in [(4000, 4096), (60 * 1024, 4096)] {
            var large = try outcome(2)
            large = Outcome(
                uid: large.uid, terminal: .rejected(Reason(rawValue: String(repeating: "r", count: 3000))),
                cause: RejectionCause(
                    reason: Reason(rawValue: String(repeating: "r", count: 3000)), status: 400, rejectedAt: acceptance),
                history: large.history, id: large.id,
                recipient: .service(
                    try ServiceAddress(
                        ServiceAddress.Kind(rawValue: 5),
                        bytes: Array(("https://" + String(repeating: "x", count: 2040)).utf8))),
                topic: String(repeating: "t", count: 500), tag: [UInt8](repeating: 1, count: 256),
                context: [UInt8](repeating: 2, count: context), uniqueID: String(repeating: "u", count: 300),
                payload: [UInt8](repeating: 3, count: payload))
            var writer = OutcomeBlockWriter(first: 1)
            let (small, source, _) = OutcomeRow.packed(try outcome(1), producer: 1)
            let hasRoom = writer.append(small, in: source.span, extras: Span())
            #expect(hasRoom)
            let (row, bytes, extras) = OutcomeRow.packed(large, producer: 1)
            let fits = writer.append(row, in: bytes.span, extras: extras.span)
            writer = OutcomeBlockWriter(first: 2)
            let fitsAlone = writer.append(row, in: bytes.span, extras: extras.span)
            #expect(!fits && fitsAlone)
            let image = writer.image()
            let header = try OutcomeBlockHeader.read(image.span).get()
            var scanner = OutcomeScanner(header, image.span)
            let outcome = scanner.next(image.span)?.outcome(2, image.span, producers: ["default"])
            let read = try #require(outcome)
            #expect(read.payload == large.payload && read.context == large.context && read.tag == large.tag)
            #expect(read.cause?.reason.rawValue.utf8.count == 1024 && read.uniqueID?.utf8.count == 255)
        }
    }
}
