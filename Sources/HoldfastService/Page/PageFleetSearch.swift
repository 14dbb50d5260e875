internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway
internal import HoldfastJournal

/// Finds notifications in all journals of the fleet, as `journal find --fleet` does. Who was not asked, or did not answer, is named.
enum PageFleetSearch {
    /// The longest that a journal is looked through.
    private static let patience = Duration.seconds(5)
    /// Searches at a time: each asks several owners.
    private static let places = WaitPlaces(limit: 2)

    static let operations: [PageOperation] = [
        .reading("api/fleet/find", PageSearch.names.filter { $0 != "skip" }) { call in
            let fleet = try PageFleet.fleet(call)
            let (question, limit) = (try PageSearch.question(call.items), try call.items.limit())
            guard places.enter() else { throw PageRefusal.busy }
            defer { places.leave() }
            return PageReply.json(try await find(question, limit, fleet))
        }
    ]

    private static func find(
        _ question: HistorySearch.Question, _ limit: Int, _ fleet: FleetLook
    ) async throws -> String {
        // One that no database has given out may be in any journal's history.
        let number = question.query.uid.flatMap(fleet.number)
        let end = ContinuousClock.now + patience
        let answers = try await fleet.asking.each(only: number) { desk, _ in
            var search = RemoteSearch(question: question)
            search.deadline = end
            // One more than is told: whether there are more is told.
            return try await search.find(of: desk, limit: limit + 1)
        }
        if let number, answers.answers.isEmpty, answers.silent.isEmpty, let why = fleet.words(forUnasked: number) {
            throw JournalError(.notFound, why)
        }
        return try form(answers, limit)
    }

    private static func form(_ answers: FleetAsking.Answers<RemoteSearch.Found>, _ limit: Int) throws -> String {
        var rows: [Row] = []
        for answer in answers.answers {
            rows += try answer.value.waiting.map { try Row($0, at: answer.place) }
            rows += try answer.value.ended.map { try Row($0, at: answer.place) }
        }
        rows.sort()
        let silent = answers.silent.map { SilentForm(place: $0.place, why: $0.why) }
        let found = answers.answers.map(\.value)
        let unkept = answers.answers.filter { $0.value.history.map { !$0.isKept } ?? false }.map(\.place)
        return "{\"found\":[\(rows.prefix(limit).map(\.json).joined(separator: ","))],\"more\":\(rows.count > limit),"
            + "\"isWhole\":\(!found.contains(where: \.isCutShort)),\"unreadable\":\(found.reduce(0) { $0 + $1.unreadable }),"
            + "\"asked\":\(try Form.text(answers.answers.map(\.place))),\"silent\":\(try Form.text(silent)),"
            + "\"withoutHistory\":\(try Form.text(unkept))}"
    }

    /// One that was found. Those that wait come first, then those that have ended, each the newest first.
    private struct Row: Comparable {
        let isEnded: Bool
        let time: WallTime
        let json: String

        init(_ entry: JournalEntry, at place: FleetPlaceForm) throws {
            var row = EntryRow(entry, reveal: false)
            row.place = place
            (isEnded, time, json) = (false, entry.acceptedAt, try row.json())
        }

        init(_ ended: RemoteSearch.Ended, at place: FleetPlaceForm) throws {
            let row = OutcomeRow(ended.outcome, blacklisted: ended.blacklisted, tellsStory: true, reveal: false)
            (isEnded, time, json) = (true, ended.outcome.settledAt, try row.entryJSON(at: place))
        }

        static func < (first: Row, second: Row) -> Bool {
            first.isEnded == second.isEnded ? first.time > second.time : !first.isEnded
        }
    }

    /// Everything about one notification of a journal that another host may have.
    static func explained(_ uid: UID, of number: Int32, _ fleet: FleetLook) async throws -> String {
        let answers = try await fleet.asking.each(only: number) { desk, _ in try await EntryFacts.find(uid, of: desk) }
        if let silent = answers.silent.first {
            throw PageRefusal(
                status: 503,
                message:
                    "journal \(silent.place.journal)\(silent.place.host.map { " of host \($0)" } ?? ""), to which \(uid) belongs, "
                    + "does not answer: \(silent.why)", fields: ["Retry-After": "2"])
        }
        guard let answer = answers.answers.first else {
            throw JournalError(.notFound, fleet.words(forUnasked: number) ?? "nobody can be asked for \(uid)")
        }
        if let json = try answer.value.json(reveal: false, at: answer.place) { return json }
        if case .never = answer.value.standing {
            throw JournalError(.notFound, "journal \(answer.place.journal) never had an entry \(uid)")
        }
        throw JournalError(
            .notFound, "journal \(answer.place.journal) has no entry \(uid) any more: it was settled")
    }
}
