import Holdfast
import HoldfastLMDB

/// Finds records anywhere in a data file by their magic letters. Only records with the right checksum count.
///
/// Pages are copied on write, so a file has old records: a record that is found was once written.
struct RecordCarver {
    enum Find {
        case entry(EntryRecord.Head, [UInt8])
        case rejection(uid: UInt64, [UInt8])
        case outcome(uid: UInt64, [UInt8])
        case outcomes(OutcomeBlockHeader, [UInt8])
        case identity(uid: UInt64, [UInt8])
        case lane(UInt32, LaneRecord)
        case producer(UInt16, ProducerRecord)
        case facts(FactsRecord)
        case blacklisted(BlacklistPlace, BlacklistEntry)
    }

    private static let stride = 1 << 20
    /// Bytes read before a stretch, for keys that lie before their records.
    private static let front = 256
    /// Bytes read behind a stretch, for records that begin in it.
    private static let back = 128 << 10
    /// Bytes that may be hashed in vain in one stretch: garbage made for the purpose must not take hours.
    private static let greatestWaste = 64 << 20

    private var window: [UInt8] = []
    private var waste = 0
    /// The key of a sealed row that cannot be opened, for want of keys.
    private var needed: SealKeyID?
    private let tables: Set<UInt32>
    /// How the file is sealed; nil where it is not.
    private let seal: JournalSeal?

    /// - Parameter magics: of the records that are wanted.
    private init(_ magics: [UInt32], _ seal: JournalSeal?) { (tables, self.seal) = (Set(magics), seal) }

    static func scan(
        _ path: String, for magics: [UInt32], _ seal: JournalSeal?, goOn: (_ done: Int, _ total: Int) -> Bool,
        _ body: (Find) throws(JournalError) -> Void
    ) throws(JournalError) {
        var carver = RecordCarver(magics, seal)
        let (file, total) = try translated("read", path) { () throws(LMDBError) in
            let file = try OpenFile(path, .read)
            return (file, try file.byteCount())
        }
        var base = 0
        while base < total, goOn(base, total) {
            let start = max(0, base - front)
            do throws(LMDBError) {
                carver.window = try file.read(base - start + stride + back, at: start)
            } catch {
                // What the disk cannot read is lost with its neighbours.
                carver.window = []
            }
            try carver.search(from: base - start, body)
            if let needed = carver.needed { throw .keyNeeded([needed], given: [], in: path) }
            base += stride
        }
    }

    private mutating func search(
        from start: Int, _ body: (Find) throws(JournalError) -> Void
    ) throws(JournalError) {
        waste = 0
        var position = max(start, 8)
        let end = min(start + Self.stride, window.count - 4)
        while position < end {
            guard window[position] == UInt8(ascii: "H"), window[position + 1] == UInt8(ascii: "F"),
                let (finds, length) = find(at: position - 8)
            else {
                position += 1
                continue
            }
            for find in finds { try body(find) }
            // On with what follows the record.
            position += length - 8
        }
    }

    private mutating func find(at start: Int) -> ([Find], length: Int)? {
        let magic = window.span.load(UInt32.self, at: start + 8)
        // In a sealed file nothing else is believed.
        if magic == SealedRow.magic { return seal == nil ? foreign(at: start) : sealed(at: start) }
        guard seal == nil || Self.isClear(magic), tables.contains(magic), let length = length(magic, at: start),
            length >= 13,
            start + length <= window.count
        else { return nil }
        guard waste < Self.greatestWaste || length < 512 else { return nil }
        let bytes = Array(window[start..<(start + length)])
        let front = Array(window[max(0, start - Self.front)..<start])
        if let find = check(magic, bytes, front: front) { return ([find], length) }
        waste += length
        return nil
    }

    /// Notes the key of a sealed row that is found where no key was given, since the file does not say any more that it is
    /// sealed.
    private mutating func foreign(at start: Int) -> ([Find], length: Int)? {
        guard let length = SealedRow.byteCount(window.span, at: start), start + length <= window.count else {
            return nil
        }
        do throws(EntryRecord.Fault) {
            needed = try SealedRow.head(window.span.extracting(start..<(start + length))).id
            return ([], length)
        } catch {
            return nil
        }
    }

    /// Whether the records of these letters are in the clear in a sealed file, too.
    private static func isClear(_ magic: UInt32) -> Bool {
        [IdentityRecord.magic, LaneRecord.magic, ProducerRecord.magic].contains(magic)
    }

    /// The wanted records of a row that is sealed.
    private mutating func sealed(at start: Int) -> ([Find], length: Int)? {
        guard let length = SealedRow.byteCount(window.span, at: start), start + length <= window.count,
            waste < Self.greatestWaste || length < 512,
            let (name, table) = seal?.tableSeal(numbered: window[start + 13])
        else { return nil }
        let keyEnd = start + SealedRow.headByteCount + Int(window.span.load(UInt16.self, at: start + 22))
        let key = Array(window[(start + SealedRow.headByteCount)..<keyEnd])
        var row = OpenedRow()
        do throws(EntryRecord.Fault) {
            try table.opened(window.span.extracting(start..<(start + length)), storedKey: key.span, into: &row)
        } catch {
            waste += length
            return nil
        }
        guard let part = BlacklistPlace.Part(rawValue: name) else {
            guard row.value.count >= 13, tables.contains(row.value.span.load(UInt32.self, at: 8)) else {
                return ([], length)
            }
            let find = check(row.value.span.load(UInt32.self, at: 8), row.value, front: key)
            return (find.map { [$0] } ?? [], length)
        }
        let place = BlacklistPlace(part: part, key: row.key)
        do throws(EntryRecord.Fault) {
            let entries = try RecipientRow(place: place, value: row.value).entries()
            return (entries.map { .blacklisted(place, $0) }, length)
        } catch {
            return ([], length)
        }
    }

    /// The length that the record's head gives.
    private func length(_ magic: UInt32, at start: Int) -> Int? {
        let span = window.span
        func has(_ count: Int) -> Bool { start + count <= window.count }
        func small(_ offset: Int) -> Int { Int(span.load(UInt16.self, at: start + offset)) }
        switch magic {
        case EntryRecord.magic:
            guard has(36) else { return nil }
            return Self.sum(36 + Int(window[start + 22]), span.load(UInt32.self, at: start + 32))
        case RejectionRecord.magic:
            guard has(40) else { return nil }
            return Self.sum(40 + small(32), span.load(UInt32.self, at: start + 36))
        case OutcomeRecord.magic: return OutcomeRecord.byteCount(span, at: start)
        case OutcomeBlock.magic: return OutcomeBlock.byteCount(span, at: start)
        case IdentityRecord.magic: return has(40) ? 40 + small(14) : nil
        case LaneRecord.magic:
            guard has(76) else { return nil }
            let route = Int(window[start + 15])
            switch window[start + 12] {
            case 0, 1: return 64 + route
            case 2: return 76 + route + small(66)
            default: return 84 + route + small(66)
            }
        case ProducerRecord.magic:
            return has(80) ? (window[start + 12] > 1 ? 88 : 80) + Int(window[start + 13]) : nil
        case FactsRecord.magic: return has(13) ? (window[start + 12] > 1 ? 120 : 112) : nil
        case TokenRecord.magic:
            return TokenRecord.byteCount(span, at: start)
        case AddressRecord.magic:
            return AddressRecord.byteCount(span, at: start)
        default: return nil
        }
    }

    private static func sum(_ head: Int, _ body: UInt32) -> Int? {
        body <= UInt32(PackedNotification.maximumByteCount + 1024) ? head + Int(body) : nil
    }

    /// - Parameter front: what lies before the record, with its key at the end.
    private func check(_ magic: UInt32, _ bytes: [UInt8], front: [UInt8]) -> Find? {
        let span = bytes.span
        func key(_ count: Int) -> [UInt8]? { front.count >= count ? Array(front.suffix(count)) : nil }
        func uid() -> UInt64? {
            guard let key = key(8) else { return nil }
            return key.span.bigEndian64(at: 0)
        }
        do throws(EntryRecord.Fault) {
            switch magic {
            case EntryRecord.magic:
                let head = EntryRecord.uncheckedHead(span)
                let record = try EntryRecord.read(span, lane: head.lane, uid: head.uid).get()
                _ = try record.fields(in: bytes)
                return .entry(record.head, bytes)
            case RejectionRecord.magic:
                let record = try RejectionRecord.read(span).get().record
                let inner = Array(bytes[record])
                let head = EntryRecord.uncheckedHead(inner.span)
                _ = try Rejection(bytes, uid: head.uid, producers: [], lanes: [])
                return .rejection(uid: head.uid, bytes)
            case OutcomeRecord.magic:
                guard let uid = uid() else { return nil }
                _ = try OutcomeRecord.read(bytes, uid: uid, producers: [])
                return .outcome(uid: uid, bytes)
            case OutcomeBlock.magic: return .outcomes(try OutcomeBlockHeader.read(span).get(), bytes)
            case IdentityRecord.magic:
                guard let uid = uid(), IdentityRecord(span, uid: uid) != nil else { return nil }
                return .identity(uid: uid, bytes)
            case LaneRecord.magic:
                guard let key = key(4) else { return nil }
                return .lane(key.span.bigEndian32(at: 0), try LaneRecord(bytes))
            case ProducerRecord.magic:
                guard let key = key(2) else { return nil }
                return .producer(key.span.bigEndian16(at: 0), try ProducerRecord(bytes))
            case FactsRecord.magic: return .facts(try FactsRecord(bytes))
            case TokenRecord.magic: return token(bytes, front: front)
            case AddressRecord.magic: return address(bytes)
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// The address is in the record, and says the key.
    private func address(_ bytes: [UInt8]) -> Find? {
        guard let address = AddressRecord.address(bytes) else { return nil }
        do {
            let place = try BlacklistPlace(address)
            return .blacklisted(place, try AddressRecord.read(bytes, key: place.key))
        } catch {
            return nil
        }
    }

    /// From version 3 on the token is in the record. Of older ones the key lies before the record, and its length before the
    /// key.
    private func token(_ bytes: [UInt8], front: [UInt8]) -> Find? {
        if let token = TokenRecord.token(bytes.span) {
            do throws(EntryRecord.Fault) {
                return .blacklisted(BlacklistPlace(token), try TokenRecord.read(bytes, token: token))
            } catch {
                return nil
            }
        }
        let start = front.count
        for count in 1...DeviceToken.maximumByteCount where start >= count + 2 {
            guard Int(front.span.load(UInt16.self, at: start - count - 2)) == count,
                let token = DeviceToken(bytes: Array(front[(start - count)..<start]))
            else { continue }
            do throws(EntryRecord.Fault) {
                return .blacklisted(BlacklistPlace(token), try TokenRecord.read(bytes, token: token))
            } catch {
                continue
            }
        }
        return nil
    }
}
