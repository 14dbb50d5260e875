import Holdfast
import HoldfastLMDB

/// One Producer's figures, apart from its name, so that copying those of all costs little.
struct ProducerFigures: Hashable, Sendable {
    var unconfirmed = 0
    var totals = JournalTotals()
}

/// A Producer as it lies in `producers`.
///
///     13 u8 name's length   14 u16 0   16 u64 unconfirmed   24 u64×7 totals, the superseded apart
///     80 in version 2: u64 superseded   80 or 88 name
///
/// Version 2 is written once something was superseded.
struct ProducerRecord: Hashable, Sendable {
    static let magic: UInt32 = 0x7270_4648  // "HFpr"
    static let version: UInt8 = 2
    /// Bytes of UTF-8.
    static let nameLengths = 1...64

    var name: String
    var figures: ProducerFigures

    var bytes: [UInt8] {
        var content: [UInt8] = [UInt8(name.utf8.count), 0, 0]
        content.appendLittleEndian(UInt64(figures.unconfirmed))
        content.append(figures.totals)
        let hasSuperseded = figures.totals.superseded > 0
        if hasSuperseded { content.appendLittleEndian(figures.totals.superseded) }
        content.append(contentsOf: name.utf8)
        return SmallRecord.seal(Self.magic, version: hasSuperseded ? Self.version : 1, content)
    }

    init(name: String, figures: ProducerFigures = ProducerFigures()) {
        self.name = name
        self.figures = figures
    }

    init(_ bytes: [UInt8]) throws(EntryRecord.Fault) {
        let span = bytes.span
        if let fault = SmallRecord.fault(span, Self.magic, newest: Self.version, atLeast: 80) { throw fault }
        let start = span[12] > 1 ? 88 : 80
        guard span.count == start + Int(span[13]), let unconfirmed = Int(exactly: span.load(UInt64.self, at: 16)) else {
            throw .damaged("its fields make no sense")
        }
        name = String(decoding: bytes[start...], as: UTF8.self)
        figures = ProducerFigures(unconfirmed: unconfirmed, totals: JournalTotals(span, at: 24))
        if start > 80 { figures.totals.superseded = span.load(UInt64.self, at: 80) }
    }
}

/// Totals as they lie in records, but for the superseded: 56 bytes.
extension JournalTotals {
    init(_ bytes: Span<UInt8>, at offset: Int) {
        self.init()
        accepted = bytes.load(UInt64.self, at: offset)
        confirmed = bytes.load(UInt64.self, at: offset + 8)
        rejected = bytes.load(UInt64.self, at: offset + 16)
        expired = bytes.load(UInt64.self, at: offset + 24)
        unknown = bytes.load(UInt64.self, at: offset + 32)
        withdrawn = bytes.load(UInt64.self, at: offset + 40)
        possibleDuplicates = bytes.load(UInt64.self, at: offset + 48)
    }

    /// Counts entries that have ended.
    mutating func count(_ outcome: TerminalOutcome, _ number: Int = 1) {
        switch outcome {
        case .confirmed: confirmed += UInt64(number)
        case .rejected: rejected += UInt64(number)
        case .expired: expired += UInt64(number)
        case .unknown: unknown += UInt64(number)
        case .withdrawn: withdrawn += UInt64(number)
        case .superseded: superseded += UInt64(number)
        }
    }
}

extension [UInt8] {
    mutating func append(_ totals: JournalTotals) {
        for figure in [
            totals.accepted, totals.confirmed, totals.rejected, totals.expired, totals.unknown, totals.withdrawn,
            totals.possibleDuplicates,
        ] { appendLittleEndian(figure) }
    }
}
