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
        /// Called once all lanes of a single journal are changed; its code is the command's.
        var afterwards: @Sendable (any OperatorDesk, [LaneKey]) async throws -> ToolStatus = { _, _ in .ok }

        func tell(_ lane: LaneKey) throws {
            try tell(LaneChangeForm(lane, pauses ? "paused" : "running", reason: reason), at: nil)
        }

        func tell(_ change: LaneChangeForm, at place: FleetPlaceForm?) throws {
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
        return try await DeskOpener(place).withDesk { desk in
            for lane in meant {
                try await change.perform(desk, lane)
                try change.tell(lane)
            }
            return try await change.afterwards(desk, meant)
        }
    }

    private func change(_ asking: FleetAsking, _ change: Change) async throws -> ToolStatus {
        let done = try await FleetOrdering(asking, who: asking.register.user).order(
            lanes: patterns, pausing: change.pauses, reason: change.reason, perform: change.perform,
            onLane: { try change.tell($0, at: $1) })
        let known = Set(done.answers.answers.flatMap(\.value)).sorted { $0.description < $1.description }
        // A journal that did not answer may have such lanes: then the order is kept.
        let isWhole = done.answers.silent.isEmpty
        let words = UnknownLanes.words(
            done.slips, known: known, in: isWhole ? "the fleet" : "the part of the fleet that answered")
        for line in words { isWhole ? Console.standard.error(line) : Console.standard.note(line) }
        return try done.answers.tellSilent(
            json: change.json, status: isWhole && !words.isEmpty ? .noInput : .ok, order: done.number)
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
