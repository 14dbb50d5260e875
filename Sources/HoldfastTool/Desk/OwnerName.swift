internal import Holdfast

/// The name of a process that uses a journal, as ``JournalReader`` gives it: `process 7 (holdfast, since 2026-11-29T12:00:00Z)`.
struct OwnerName {
    /// Each nil where the name does not say it.
    let process: Int?
    let program: String?
    /// Since when it has the journal.
    let since: WallTime?

    init(_ name: String) {
        let start = "process "
        process = name.hasPrefix(start) ? Int(name.dropFirst(start.count).prefix { $0.isNumber }) : nil
        let facts = name.split(separator: "(", maxSplits: 1).dropFirst().first?.prefix { $0 != ")" }
        program = facts?.split(separator: ",").first.map { String($0) }
        since = facts?.split(separator: " ").last.flatMap { Timestamp.parse(String($0)) }
    }
}
