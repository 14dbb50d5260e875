internal import Foundation
internal import Holdfast
internal import HoldfastControl

/// Where an entry of a journal stands.
struct StandingForm: Codable {
    private enum Place: String, Codable {
        case unconfirmed, deferred, scheduled, aside, settled, quarantined
    }

    /// Absent where the journal knows nothing of it.
    private var place: Place?
    private var lane: String?
    private var attempts: Int?
    private var possiblySent: Bool?
    /// Until, for or since when, in milliseconds since 1970.
    private var time: Int64?
    private var reason: String?
    private var end: EndForm?
    private var rejection: CauseForm?
    private var topic: String?

    init(_ standing: EntryStanding) {
        rejection = standing.cause.map { CauseForm($0) }
        topic = standing.topic
        switch standing.fate {
        case nil: break
        case .unconfirmed(let key, let count, let isPossiblySent)?:
            (place, lane, attempts, possiblySent) = (.unconfirmed, key.description, count, isPossiblySent)
        case .deferred(let key, let until, let count, let why)?:
            (place, lane, attempts) = (.deferred, key.description, count)
            (time, reason) = (until.milliseconds, why.rawValue)
        case .scheduled(let key, let start, let count)?:
            (place, lane, attempts, time) = (.scheduled, key.description, count, start.milliseconds)
        case .aside(let key, let since)?: (place, lane, time) = (.aside, key.description, since.milliseconds)
        case .settled(let outcome)?: (place, end) = (.settled, EndForm(outcome))
        case .quarantined(let key, let isPossiblySent)?:
            (place, lane, possiblySent) = (.quarantined, key.description, isPossiblySent)
        }
    }

    func value() throws(ControlError) -> EntryStanding {
        EntryStanding(try fate(), cause: rejection?.value(), topic: topic)
    }

    private func fate() throws(ControlError) -> EntryFate? {
        guard let place else { return nil }
        if place == .settled {
            guard let end else { throw ControlError.malformed("an entry has ended, and it is not said how") }
            return .settled(try end.value())
        }
        let (lane, time) = (try LaneKey.read(lane ?? ""), WallTime(milliseconds: time ?? 0))
        let (count, isPossiblySent) = (attempts ?? 0, possiblySent ?? false)
        return switch place {
        case .deferred: .deferred(lane, until: time, attempts: count, reason: Reason(rawValue: reason ?? ""))
        case .scheduled: .scheduled(lane, for: time, attempts: count)
        case .aside: .aside(lane, since: time)
        case .quarantined: .quarantined(lane, possiblySent: isPossiblySent)
        case .unconfirmed, .settled: .unconfirmed(lane, attempts: count, possiblySent: isPossiblySent)
        }
    }
}

/// Of which entries it is asked where they stand.
struct StandingQuestionForm: Codable {
    var uids: [UInt64]
}

/// For each entry that was asked for, in order.
struct StandingsForm: Codable {
    var standings: [StandingForm]
}

/// A note that `send` leaves in a journal. Others are nobody's but their maker's, and some of them are credentials.
struct NoteQuestionForm: Codable {
    static let prefixes = ["file/", "route/"]

    var name: String

    /// - Throws: ``ControlError`` with code `malformed` for a note that is not told.
    func checked() throws(ControlError) -> String {
        guard Self.prefixes.contains(where: { name.hasPrefix($0) }) else {
            throw ControlError.malformed("\(name.prefix(100).debugDescription) is not a note that is told")
        }
        return name
    }
}

struct NoteForm: Codable {
    /// Absent where there is none.
    var value: Data?
}
