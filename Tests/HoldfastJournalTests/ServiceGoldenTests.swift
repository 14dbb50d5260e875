import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// As `GoldenTests`: records of other services' addresses, written by another program from Docs/Internals/JournalFormat.md.
@Suite("Golden bytes of other services' addresses")
struct ServiceGoldenTests {
    private static let uid: UInt64 = 0x0102_0304_0506_0708
    private static let names = (1...7).map { "producer \($0)" }

    private static func address(_ kind: UInt8, _ bytes: [UInt8]) -> ServiceAddress {
        do throws(Refusal) {
            return try ServiceAddress(ServiceAddress.Kind(rawValue: kind), bytes: bytes)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    private static let installation = address(1, Array("cXy1".utf8))
    private static let topic = address(3, Array("weather".utf8))
    private static let subscription = address(5, Array("https://push.example/e".utf8))
    private static let unknown = address(200, [0, 0xFF])

    private static func bytes(_ hex: String) -> [UInt8] { Hex.bytes(Array(hex.utf8).span) ?? [] }

    /// The record of an entry that is for the address, with a tag of three bytes.
    private func entry(_ address: ServiceAddress) -> [UInt8] {
        var packed: [UInt8] = []
        var notification = PushNotification(address: address, topic: "t", payload: Array("{}".utf8))
        notification.tag = [9, 8, 7]
        PackedNotification.append(
            notification, id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222),
            expiration: .once, acceptedAt: acceptance, producer: "", to: &packed)
        var record = [UInt8](repeating: 0, count: EntryRecord.byteCount(body: packed.count))
        var output = record.mutableSpan
        EntryRecord.write(
            EntryRecord.Head(lane: 2, uid: Self.uid, producer: 7), body: 0..<packed.count, of: packed.span,
            reason: Span<UInt8>(), into: &output)
        return record
    }

    private static let outcomes: [(hex: String, address: ServiceAddress, TerminalOutcome, RejectionCause?)] = [
        (
            "8b93af89476acbad48466f630302090094010c0003000700e86be5cf8b0100000000000000000000e76be5cf"
                + "8b01000011111111111111112222222222222222040001000000000063587931090807554e52454749535445"
                + "524544",
            installation, .rejected(Reason(rawValue: "UNREGISTERED")),
            RejectionCause(
                reason: Reason(rawValue: "UNREGISTERED"), status: 404,
                rejectedAt: WallTime(milliseconds: 1_700_000_000_999))
        ),
        (
            "794d71b426717cc648466f63030108000000000003000700e86be5cf8b010000000000000000000000000000"
                + "0000000011111111111111112222222222222222070003000000000077656174686572090807",
            topic, .confirmed, nil
        ),
        (
            "ac2f79837906a16448466f63030408000000000003000700e86be5cf8b010000000000000000000000000000"
                + "00000000111111111111111122222222222222220200c8000000000000ff090807",
            unknown, .unknown, nil
        ),
    ]

    @Test("An outcome: of a rejection, of what all get who follow a topic, and of a kind that nobody knows")
    func outcomeRecords() throws {
        let settledAt = WallTime(milliseconds: 1_700_000_001_000)
        for (golden, address, terminal, cause) in Self.outcomes {
            let read = try OutcomeRecord.read(Self.bytes(golden), uid: Self.uid, producers: Self.names)
            #expect(
                read
                    == Outcome(
                        uid: UID(Self.uid), terminal: terminal, cause: cause,
                        history: DeliveryHistory(
                            acceptedAt: settledAt, settledAt: settledAt, attempts: terminal == .unknown ? 0 : 1),
                        id: NotificationID(high: 0x1111_1111_1111_1111, low: 0x2222_2222_2222_2222),
                        recipient: .service(address), topic: "", producer: "producer 7", tag: [9, 8, 7]))
            #expect(OutcomeRecord.byteCount(Self.bytes(golden).span, at: 0) == golden.utf8.count / 2)
        }
    }

    private static let listed: [(hex: String, BlacklistEntry)] = {
        let (since, learntAt) = (WallTime(milliseconds: 1_700_000_000_000), WallTime(milliseconds: 1_700_000_000_999))
        return [
            (
                "1714151e32dd14f14846616401070c000068e5cf8b010000e76be5cf8b010000090000000000000007001a00"
                    + "011f94014d00000000000000e733646a8c010000040000000000000063587931554e52454749535445524544"
                    + "64656661756c7470726f6a65637468747470733a2f2f66636d2e676f6f676c65617069732e636f6d",
                BlacklistEntry(
                    recipient: .service(installation), reason: Reason(rawValue: "UNREGISTERED"), since: since,
                    learntAt: learntAt, route: "default", topic: "project", endpoint: "https://fcm.googleapis.com",
                    status: 404, answered: UID(77), number: 9, expiresAt: WallTime(milliseconds: 1_702_592_000_999))
            ),
            (
                "f85945c2662ab3ad48466164010808000068e5cf8b010000e76be5cf8b0100000a0000000000000000000000"
                    + "0500000000000000000000000000000000000000160000000000000068747470733a2f2f707573682e657861"
                    + "6d706c652f654f70657261746f726f70657261746f72",
                BlacklistEntry(
                    recipient: .service(subscription), reason: Reason(rawValue: "Operator"), since: since,
                    learntAt: learntAt, route: "operator", number: 10)
            ),
            (
                "d11fb36ce32b201a48466164010808000068e5cf8b010000e76be5cf8b0100000b0000000000000000000000"
                    + "c801000000000000000000000000000000000000020000000000000000ff4f70657261746f726f7065726174"
                    + "6f72",
                BlacklistEntry(
                    recipient: .service(unknown), reason: Reason(rawValue: "Operator"), since: since,
                    learntAt: learntAt, route: "operator", topic: "", number: 11)
            ),
        ]
    }()

    @Test("A blacklist entry: one that expires, one for all, one of a kind that nobody knows for an empty topic")
    func addressRecords() throws {
        for (golden, entry) in Self.listed {
            let address = try #require(entry.recipient.serviceAddress)
            let key = try BlacklistPlace(address).key
            #expect(Hex.string(AddressRecord.bytes(entry, address, key: key)) == golden)
            #expect(try AddressRecord.read(Self.bytes(golden), key: key) == entry)
            #expect(AddressRecord.byteCount(Self.bytes(golden).span, at: 0) == golden.utf8.count / 2)
            #expect(AddressRecord.uncheckedNumber(Self.bytes(golden).span, at: 0) == entry.number)
            // Under another address's key it is damage, that of the same bytes in another kind's included.
            let other = [key[0] ^ 1] + key.dropFirst()
            #expect(throws: EntryRecord.Fault.self) { try AddressRecord.read(Self.bytes(golden), key: other) }
        }
    }

    @Test("The key of an address is its kind and the SHA-256 of its bytes, however many there are")
    func keys() throws {
        #expect(
            Hex.string(try BlacklistPlace(Self.installation).key)
                == "017ec9a63da74e64b3989ab4811bd1245a54f9b8476e18b95410153f1e3db807ff")
        let longest = Self.address(5, [UInt8](repeating: 0x78, count: ServiceAddress.maximumByteCount))
        #expect(try BlacklistPlace(longest).key.count == 33)
    }

    @Test("No flipped bit and no missing byte of such a record goes unnoticed, and none crashes its reader")
    func damage() throws {
        for (golden, _, _, _) in Self.outcomes {
            for changed in Self.damaged(Self.bytes(golden)) {
                #expect(throws: EntryRecord.Fault.self) {
                    try OutcomeRecord.read(changed, uid: Self.uid, producers: Self.names)
                }
                _ = OutcomeRecord.byteCount(changed.span, at: 0)
            }
        }
        for (golden, entry) in Self.listed {
            let key = try BlacklistPlace(try #require(entry.recipient.serviceAddress)).key
            for changed in Self.damaged(Self.bytes(golden)) {
                #expect(throws: EntryRecord.Fault.self) { try AddressRecord.read(changed, key: key) }
                _ = AddressRecord.address(changed)
                _ = RecipientRow(place: BlacklistPlace(part: .addresses, key: key), value: changed).uncheckedNumber
            }
        }
    }

    @Test(
        "Records whose checksum fits and whose fields do not are damage, never a crash",
        arguments: 0..<300 as Range<UInt64>)
    func nonsense(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        func spoil(_ hex: String, seed: UInt64) -> [UInt8] {
            var bytes = Self.bytes(hex)
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1...(bytes.count - 13), using: &random)) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 12..<bytes.count, using: &random)] = UInt8.random(
                    in: .min ... .max, using: &random)
            }
            var span = bytes.mutableSpan
            span.store(XXH64.hash(span.span, from: 8, seed: seed), at: 0)
            return bytes
        }
        for (golden, _, _, _) in Self.outcomes {
            _ = try? OutcomeRecord.read(spoil(golden, seed: Self.uid), uid: Self.uid, producers: Self.names)
        }
        for (golden, entry) in Self.listed {
            let key = try BlacklistPlace(try #require(entry.recipient.serviceAddress)).key
            let bytes = spoil(golden, seed: XXH64.hash(key.span))
            let row = RecipientRow(place: BlacklistPlace(part: .addresses, key: key), value: bytes)
            _ = try? row.entries()
            _ = row.recipient
        }
    }

    private static func damaged(_ bytes: [UInt8]) -> [[UInt8]] {
        let flipped = (0..<bytes.count * 8).map { bit in
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            return changed
        }
        return flipped + (0..<bytes.count).map { Array(bytes[..<$0]) } + [bytes + [0]]
    }
}
