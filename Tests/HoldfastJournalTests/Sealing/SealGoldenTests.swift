import Holdfast
import HoldfastLMDB
import Testing

@testable import HoldfastJournal

/// Bytes as another program (JavaScript, with node's crypto) seals them from Docs/Internals/JournalFormat.md.
@Suite("Golden bytes of sealed rows") struct SealGoldenTests {
    private static let entryKey: [UInt8] = [0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8]
    private static let entry = bytes(
        "6a771a020a59dbc548467365010800001800000000000c00870549dab5714bcfa0a1a2a3a4a5a6a7a8a9aaab05000000000000000000"
            + "0002010203040506070835291cee7faa866fe0159ac602d0d927915b7f706a3b3e5f")
    private static let hidden = bytes("fa46b2802e577716c5061738625cd7a873db0f6d80618b7158cfb56679582a50")
    private static let token = bytes(
        "3a9eabcd1353828b48467365015000003800000000002000870549dab5714bcfa0a1a2a3a4a5a6a7a8a9aaab0807060504030201fa46"
            + "b2802e577716c5061738625cd7a873db0f6d80618b7158cfb56679582a50637f4687516bf8ae5bb2ddc723f02d71099cdbd595c3f0c3"
            + "c80711646b972a6506a7fdf3d150ce8687fb8502539538ed4b5b9cebae1180ce")
    private static let list = bytes("cdb404400f2817a74846736c01000200870549dab5714bcf0700000000000000")

    static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    private static func keys() throws -> JournalKeys { JournalKeys([try SealKey([UInt8](0..<32))]) }

    @Test("A key has its id and its line, and says nothing else of itself")
    func key() throws {
        let key = try SealKey([UInt8](0..<32))
        #expect(key.id.description == "cf4b71b5da490587")
        let line = "holdfast-journal-key-1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        #expect(String(decoding: key.line, as: UTF8.self) == line)
        let keys = try Self.keys()
        #expect("\(keys)" == "keys cf4b71b5da490587" && keys.ids == ["cf4b71b5da490587"])
    }

    @Test("A sealed entry is opened, and sealed in the same form")
    func sealedEntry() throws {
        let core = try SealCore(try Self.keys())
        var output: [UInt8] = []
        try core.open(Self.entry.span, .entries, storedKey: Self.entryKey.span, into: &output)
        #expect(output == Array("a record".utf8))
        let seal = TableSeal(.entries, core)
        let ours = try seal.sealed(output.span, key: Self.entryKey.span, storedKey: Self.entryKey.span)
        #expect(ours.count == Self.entry.count)
        // All but checksum, salt, counter, and what is sealed.
        #expect(ours[8..<32] == Self.entry[8..<32] && ours[52..<64] == Self.entry[52..<64])
        try core.open(ours.span, .entries, storedKey: Self.entryKey.span, into: &output)
        #expect(output == Array("a record".utf8))
    }

    @Test("A recipient is hidden behind a keyed hash, and comes back with its row")
    func hiddenRecipient() throws {
        let seal = try JournalSeal(.blacklist, try Self.keys(), listed: nil, index: [UInt8](repeating: 7, count: 32))
        let tokens = try #require(seal.tableSeal(of: "tokens"))
        let token = [UInt8](repeating: 0xAB, count: 32)
        #expect(try tokens.place(of: token.span) == Self.hidden)
        var row = OpenedRow()
        try tokens.opened(Self.token.span, storedKey: Self.hidden.span, into: &row)
        #expect(row.key == token && row.value == Array("a value".utf8))
    }

    @Test("The list of a file's keys")
    func listed() throws {
        let record = try SealingRecord(Self.list)
        #expect(record.ids == [SealKeyID(rawValue: 0xCF4B_71B5_DA49_0587), SealKeyID(rawValue: 7)])
        #expect(record.bytes == Self.list)
        #expect(record.putting(SealKeyID(rawValue: 7)).ids.map(\.rawValue) == [7, 0xCF4B_71B5_DA49_0587])
    }

    @Test("No flipped bit, no missing byte, and no other place or table of a sealed row goes unnoticed")
    func damage() throws {
        let core = try SealCore(try Self.keys())
        func opens(_ bytes: [UInt8], _ kind: SealedRow.Kind = .entries, key: [UInt8] = Self.entryKey) -> Bool {
            var output: [UInt8] = []
            do throws(EntryRecord.Fault) {
                try core.open(bytes.span, kind, storedKey: key.span, into: &output)
                return true
            } catch {
                return false
            }
        }
        #expect(opens(Self.entry))
        for bit in 0..<Self.entry.count * 8 {
            var changed = Self.entry
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!opens(changed), "bit \(bit)")
            // Whoever changes it on purpose makes the checksum fit.
            guard bit >= 64 else { continue }
            var span = changed.mutableSpan
            span.store(XXH64.hash(span.span, from: 8), at: 0)
            #expect(!opens(changed), "bit \(bit), with its checksum")
        }
        for count in 0..<Self.entry.count { #expect(!opens(Array(Self.entry[..<count]))) }
        #expect(!opens(Self.entry + [0]))
        #expect(!opens(Self.entry, .deferred))
        var elsewhere = Self.entryKey
        elsewhere[11] = 9
        #expect(!opens(Self.entry, key: elsewhere))
        // The row itself says that it is of the other place: only its seal knows better.
        var moved = Self.entry
        moved.replaceSubrange(52..<64, with: elsewhere)
        var span = moved.mutableSpan
        span.store(XXH64.hash(span.span, from: 8), at: 0)
        #expect(!opens(moved, key: elsewhere))
    }

    @Test("No two rows of a key have the same nonce, also when their number is used up")
    func nonces() throws {
        let core = try SealCore(try Self.keys(), greatestCount: 10)
        let seal = TableSeal(.entries, core)
        var seen: Set<[UInt8]> = []
        var salts: Set<[UInt8]> = []
        for _ in 0..<35 {
            let row = try seal.sealed([1, 2, 3].span, key: Self.entryKey.span, storedKey: Self.entryKey.span)
            seen.insert(Array(row[32..<52]))
            salts.insert(Array(row[32..<44]))
        }
        #expect(seen.count == 35 && salts.count == 4)
    }

    @Test("A row whose key is not there is told apart from a damaged one")
    func missingKey() throws {
        let core = try SealCore(JournalKeys([try SealKey.random()]))
        var output: [UInt8] = []
        #expect(throws: EntryRecord.Fault.self) {
            try core.open(Self.entry.span, .entries, storedKey: Self.entryKey.span, into: &output)
        }
        #expect(core.takeMissing()?.description == "cf4b71b5da490587")
        #expect(core.takeMissing() == nil)
    }
}
