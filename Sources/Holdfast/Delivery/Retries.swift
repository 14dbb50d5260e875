/// Work that the journal could not do, each piece to be tried again at its time.
///
/// A pure machine.
struct Retries<Work> {
    private var waiting: [(due: Duration, work: Work)] = []

    var isEmpty: Bool { waiting.isEmpty }
    var nextLook: Duration? { waiting.map(\.due).min() }
    var all: [Work] { waiting.map(\.work) }

    mutating func add(_ work: Work, due: Duration) { waiting.append((due, work)) }

    /// Removes what is to be tried now.
    mutating func takeDue(_ now: Duration) -> [Work] {
        guard !waiting.isEmpty else { return [] }
        let due = waiting.filter { $0.due <= now }
        waiting.removeAll { $0.due <= now }
        return due.map(\.work)
    }
}
