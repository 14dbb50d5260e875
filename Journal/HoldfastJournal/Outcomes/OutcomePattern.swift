import Holdfast
import HoldfastLMDB

/// A query as rows and the index are asked.
struct OutcomePattern: Sendable {
    private let query: OutcomeQuery
    private let recipient: (kind: UInt8, service: UInt8, bytes: [UInt8])?
    private let topic: [UInt8]?
    private let producers: [UInt16]
    private let code: UInt8?

    /// - Parameter producers: the names, Producer 1 first.
    /// - Returns: nil if nothing can match.
    init?(_ query: OutcomeQuery, producers: [String]) {
        self.query = query
        recipient = query.recipient.map { recipient in
            switch recipient {
            case .device: (OutcomeRow.Kind.token, 0, recipient.address)
            case .channel: (OutcomeRow.Kind.channel, 0, recipient.address)
            case .service(let address): (OutcomeRow.Kind.service, address.kind.rawValue, recipient.address)
            }
        }
        topic = query.topic.map { Array($0.utf8) }
        self.producers = producers.indices.filter { producers[$0] == query.producer }.map { UInt16($0 + 1) }
        if query.producer != nil, self.producers.isEmpty { return nil }
        code = query.ending.map(OutcomeCode.code(word:))
        if query.ending != nil, code == 0 { return nil }
    }

    /// The hashes of which the index must know all: each a list of alternatives.
    func hashes(_ hash: OutcomeHash) -> [[UInt64]] {
        var hashes: [[UInt64]] = []
        if let uid = query.uid { hashes.append([hash.uid(uid.rawValue)]) }
        if let id = query.id { hashes.append([hash.id(id.high, id.low)]) }
        if let (kind, service, bytes) = recipient {
            hashes.append([hash.recipient(bytes.span, 0..<bytes.count, kind: kind, service: service)])
        }
        if let tag = query.tag, !tag.isEmpty { hashes.append([hash.tag(tag.span, 0..<tag.count)]) }
        if let topic { hashes.append([hash.topic(topic.span, 0..<topic.count)]) }
        if query.producer != nil { hashes.append(producers.map(hash.producer)) }
        return hashes
    }

    func mayMatch(_ header: OutcomeBlockHeader) -> Bool {
        query.mayMatch(from: header.settledFrom, to: header.settledTo)
    }

    func mayMatch(_ summary: SegmentSummary) -> Bool {
        query.mayMatch(from: summary.settledFrom, to: summary.settledTo)
    }

    /// Whether a row is one of those.
    ///
    /// - Parameter bytes: of its block.
    func matches(_ row: OutcomeRow, _ bytes: Span<UInt8>) -> Bool {
        if let uid = query.uid, row.uid != uid.rawValue { return false }
        if let id = query.id, row.idHigh != id.high || row.idLow != id.low { return false }
        if let code, row.code != code { return false }
        if query.producer != nil, !producers.contains(row.producer) { return false }
        if let since = query.since, row.settledAt < since.milliseconds { return false }
        if let until = query.until, row.settledAt >= until.milliseconds { return false }
        if let (kind, service, address) = recipient {
            guard row.kind == kind, row.service == service else { return false }
            if !bytes.hasSame(row.recipient, as: address.span, at: 0..<address.count) { return false }
        }
        if let tag = query.tag, !bytes.hasSame(row.tag, as: tag.span, at: 0..<tag.count) { return false }
        if let topic, !bytes.hasSame(row.topic, as: topic.span, at: 0..<topic.count) { return false }
        return true
    }
}
