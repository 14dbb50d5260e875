internal import Holdfast
internal import HoldfastJournal

/// Lanes that were named, and that a journal doesn't have.
enum UnknownLanes {
    /// So many of the lanes that there are get named; a fleet may have thousands.
    private static let shownCount = 8

    /// - Returns: a sentence for each, which names the first of the lanes that there are.
    static func words(_ patterns: [LanePattern], known: [LaneKey], in journal: String) -> [String] {
        guard !patterns.isEmpty else { return [] }
        let shown = known.prefix(shownCount).map(\.description).joined(separator: ", ")
        let more = known.count - min(known.count, shownCount)
        let names =
            known.isEmpty
            ? "it has none yet"
            : "it has \(shown)" + (more > 0 ? " and \(more) more, which `holdfast lanes list` shows" : "")
        return patterns.filter { !known.contains(where: $0.matches) }.map { pattern in
            "\(journal) has no lane \(pattern.description.debugDescription): \(names)"
        }
    }

    /// For commands that choose among entries: what is chosen is nothing, which somebody may not expect.
    static func tell(_ patterns: [LanePattern], in source: any JournalSource) async throws {
        guard !patterns.isEmpty else { return }
        for line in words(patterns, known: try await source.lanes(), in: source.name) { Console.standard.warning(line) }
    }
}
