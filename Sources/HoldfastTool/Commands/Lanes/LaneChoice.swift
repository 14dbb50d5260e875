internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
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
        let state: String
        let reason: String
        let json: Bool
        let perform: @Sendable (any OperatorDesk, LaneKey) async throws -> Void

        func tell(_ lane: LaneKey, at place: FleetPlaceForm? = nil) throws {
            let change = LaneChangeForm(lane, state, reason: reason)
            let words = (place.map { "\($0.words): " } ?? "") + "\(change.lane): \(state)"
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
        let answers = try await asking.each { desk, place in
            let known = try await desk.status().lanes.map(\.key)
            for lane in known where patterns?.contains(where: { $0.matches(lane) }) ?? true {
                try await change.perform(desk, lane)
                try change.tell(lane, at: place)
            }
            return known
        }
        let known = Set(answers.answers.flatMap(\.value))
        for words in UnknownLanes.words(
            patterns ?? [], known: known.sorted { $0.description < $1.description }, in: "the fleet")
        {
            Console.standard.error(words)
            return try answers.tellSilent(json: change.json, status: .noInput)
        }
        return try answers.tellSilent(json: change.json)
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
