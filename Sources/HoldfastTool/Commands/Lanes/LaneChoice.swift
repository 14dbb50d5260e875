internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// Which lanes a command changes.
struct LaneChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            A lane, ROUTE/URGENCY/GUARANTEE, such as default/immediate/at-least-once; or the beginning of its \
            name, for all lanes that begin so.
            """,
            valueName: "lane"),
        completion: LaneCompletion.kind)
    var lanes: [String] = []

    @Flag(name: .long, help: "All lanes.")
    var all = false

    func validate() throws {
        guard all != !lanes.isEmpty else { throw ValidationError("Name lanes, or say --all.") }
        guard lanes.allSatisfy({ LanePattern($0) != nil }) else { throw ValidationError("A lane's name is not empty.") }
    }

    /// What becomes of the lanes that are meant.
    struct Change: Sendable {
        let pauses: Bool
        let reason: String
        let json: Bool
        let perform: @Sendable (any OperatorDesk, LaneKey) async throws -> Void

        private var state: String { pauses ? "paused" : "running" }

        /// - Parameter actual: the state that the lane has; nil for the one that was ordered.
        func tell(_ lane: LaneKey, at place: FleetPlaceForm? = nil, actual: String? = nil) throws {
            let change = LaneChangeForm(lane, actual ?? state, reason: reason)
            let words = (place.map { "\($0.words): " } ?? "") + "\(change.lane): \(change.state)"
            Console.standard.print(json ? try JSONOutput.line(PlacedForm(place: place, value: change)) : words)
        }
    }

    /// Changes each lane that is meant, and prints it.
    func change(
        _ placeOptions: PlaceOptions, _ fleetOptions: FleetOptions, _ change: Change
    ) async throws -> ToolStatus {
        if fleetOptions.fleet { return try await self.change(fleetOptions.asking(placeOptions), change) }
        let place = try placeOptions.place()
        let meant = try await place.withSource { source in
            try chosen(among: try await source.lanes(), of: source.name)
        }
        try await DeskOpener(place).withDesk { desk in
            for lane in meant {
                try await change.perform(desk, lane)
                try change.tell(lane)
            }
        }
        return .ok
    }

    private func change(_ asking: FleetAsking, _ change: Change) async throws -> ToolStatus {
        let patterns = self.patterns
        let ordering = FleetOrdering(register: asking.register)
        // First of all, so that whoever takes a journal from now on knows of it.
        let given = try await ordering.give(
            patterns?.map { .lanes($0) } ?? [.lanes(nil)], pausing: change.pauses, reason: change.reason)
        let answers = try await asking.each { desk, place in
            let isCarriedOut = try await given.carryOut(desk)
            let status = try await desk.status()
            for lane in status.lanes where patterns?.contains(where: { $0.matches(lane.key) }) ?? true {
                if !isCarriedOut { try await change.perform(desk, lane.key) }
                try change.tell(lane.key, at: place, actual: isCarriedOut ? LaneRow(lane, status).lane.state : nil)
            }
            return status.lanes.map(\.key)
        }
        let known = Set(answers.answers.flatMap(\.value)).sorted { $0.description < $1.description }
        let unknown = (patterns ?? []).enumerated().filter { !given.endings.contains($0.offset) }.map(\.element)
        let words = UnknownLanes.words(unknown, known: known, in: "the fleet")
        guard !words.isEmpty, !known.isEmpty else {
            return try answers.tellSilent(json: change.json, order: given.number)
        }
        if answers.silent.isEmpty {
            // No journal has such lanes: it is a slip, which must not wait for a route of that name.
            let slips = (patterns ?? []).enumerated().filter { place, pattern in
                !given.endings.contains(place) && !known.contains(where: pattern.matches)
            }
            try await ordering.withdraw(given, slips.map(\.offset))
        }
        for line in words { Console.standard.error(line) }
        return try answers.tellSilent(json: change.json, status: .noInput, order: given.number)
    }

    /// `nil` for all.
    private var patterns: [LanePattern]? { all ? nil : lanes.compactMap { LanePattern($0) } }

    /// - Throws: ``ToolError`` with status `noInput` that names the lanes which there are.
    private func chosen(among known: [LaneKey], of journal: String) throws -> [LaneKey] {
        guard let patterns else {
            guard !known.isEmpty else { throw ToolError(.noInput, "\(journal) has no lanes yet") }
            return known
        }
        if let words = UnknownLanes.words(patterns, known: known, in: journal).first {
            throw ToolError(.noInput, words)
        }
        return known.filter { lane in patterns.contains { $0.matches(lane) } }
    }
}
