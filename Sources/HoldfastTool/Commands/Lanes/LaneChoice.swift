internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal

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

    /// Changes each lane that is meant, and prints it.
    func change(
        _ journal: String, to state: String, reason: String, json: Bool,
        _ body: (any OperatorDesk, LaneKey) async throws -> Void
    ) async throws -> ToolStatus {
        let meant = try chosen(in: journal)
        try await DeskOpener(journal: journal).withDesk { desk in
            for lane in meant {
                try await body(desk, lane)
                let change = LaneChangeForm(lane, state, reason: reason)
                Console.standard.print(json ? try JSONOutput.line(change) : "\(change.lane): \(state)")
            }
        }
        return .ok
    }

    /// - Throws: ``ToolError`` with status `noInput` that names the lanes which there are.
    private func chosen(in journal: String) throws -> [LaneKey] {
        let reader = try JournalReader(directory: journal)
        defer { reader.close() }
        let known = try reader.status().lanes.map(\.key)
        if all {
            guard !known.isEmpty else { throw ToolError(.noInput, "\(journal) has no lanes yet") }
            return known
        }
        let patterns = lanes.compactMap { LanePattern($0) }
        if let words = try UnknownLanes.words(patterns, in: reader).first { throw ToolError(.noInput, words) }
        return known.filter { lane in patterns.contains { $0.matches(lane) } }
    }
}
