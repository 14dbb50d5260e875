internal import Holdfast
internal import HoldfastJournal

/// Lanes that were named, and that a journal doesn't have.
enum UnknownLanes {
    /// - Returns: a sentence for each, which names the lanes that there are.
    static func words(_ patterns: [LanePattern], in reader: JournalReader) throws(JournalError) -> [String] {
        guard !patterns.isEmpty else { return [] }
        let known = try reader.status().lanes.map(\.key)
        let names = known.isEmpty ? "it has none yet" : "it has \(known.map(\.description).joined(separator: ", "))"
        return patterns.filter { !known.contains(where: $0.matches) }.map { pattern in
            "\(reader.directory) has no lane \(pattern.description.debugDescription): \(names)"
        }
    }

    /// For commands that choose among entries: what is chosen is nothing, which somebody may not expect.
    static func tell(_ patterns: [LanePattern], in reader: JournalReader) throws(JournalError) {
        for line in try words(patterns, in: reader) { Console.standard.warning(line) }
    }
}
