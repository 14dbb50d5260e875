internal import Holdfast
internal import HoldfastJournal

/// Lanes that were named, and that a journal doesn't have.
enum UnknownLanes {
    /// - Returns: a sentence for each, which names the lanes that there are.
    static func words(_ patterns: [LanePattern], known: [LaneKey], in journal: String) -> [String] {
        guard !patterns.isEmpty else { return [] }
        let names = known.isEmpty ? "it has none yet" : "it has \(known.map(\.description).joined(separator: ", "))"
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
