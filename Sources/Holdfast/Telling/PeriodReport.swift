internal import Logging

/// The periodic report of an engine, as one log line.
struct PeriodReport: Hashable, Sendable {
    /// Reasons that a line names; the others are added up.
    static let reasonLimit = 5

    let period: Duration
    let figures: PeriodFigures

    /// For people.
    var message: String {
        guard !figures.isIdle else { return "idle: nothing waits, and nothing happened in \(period.inWords)" }
        return "\(pool); \(queue); in \(period.inWords): \(work)\(times)"
    }

    private var pool: String { "\(figures.connections) of \(figures.connectionLimit) connections" }

    private var queue: String {
        guard figures.depth > 0 else { return "nothing waits" }
        let aged = figures.lanes.compactMap { lane in lane.oldestAge.map { (age: $0, key: lane.key) } }
        let oldest = aged.max { $0.age < $1.age }.map { ", the oldest for \($0.age.inWords) in \($0.key)" } ?? ""
        return "\(figures.depth) wait\(oldest), \(figures.inFlight) in flight"
    }

    private var work: String {
        var parts = ["accepted \(figures.accepted)", "sent \(figures.sent)", "again \(figures.requeued)"]
        if figures.possibleDuplicates > 0 { parts.append("possible duplicates \(figures.possibleDuplicates)") }
        if figures.deferred > 0 { parts.append("deferred \(figures.deferred)") }
        parts.append("confirmed \(figures.confirmed)")
        let reasons = reasons.map { "\($0.word) \($0.count)" }.joined(separator: ", ")
        parts.append("failed \(failed)" + (reasons.isEmpty ? "" : " (\(reasons))"))
        if figures.unknown > 0 { parts.append("unknown \(figures.unknown)") }
        if figures.withdrawn > 0 { parts.append("withdrawn \(figures.withdrawn)") }
        if figures.superseded > 0 { parts.append("superseded \(figures.superseded)") }
        if figures.refused > 0 { parts.append("refused \(figures.refused)") }
        return parts.joined(separator: ", ")
    }

    private var times: String {
        var parts: [String] = []
        if let mean = figures.commits.mean { parts.append("a commit took \(mean.shortMilliseconds) ms") }
        if let mean = figures.answers.mean { parts.append("an answer \(mean.shortMilliseconds) ms") }
        return parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")
    }

    private var failed: Int { figures.failed.values.reduce(0, +) }

    /// The most frequent first.
    private var reasons: [(word: String, count: Int)] {
        var byWord: [String: Int] = [:]
        for (reason, count) in figures.failed { byWord[ReasonLabels.word(for: reason), default: 0] += count }
        let sorted = byWord.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { (word: $0.key, count: $0.value) }
        let rest = sorted.dropFirst(Self.reasonLimit).reduce(0) { $0 + $1.count }
        return sorted.prefix(Self.reasonLimit) + (rest > 0 ? [(word: ReasonLabels.other, count: rest)] : [])
    }

    /// The report as metadata of the line. Times in milliseconds, ages in seconds.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "period-s": .stringConvertible(period.components.seconds), "idle": .stringConvertible(figures.isIdle),
            "connections": .count(figures.connections), "connection-limit": .count(figures.connectionLimit),
            "depth": .count(figures.depth), "in-flight": .count(figures.inFlight),
            "accepted": .count(figures.accepted), "refused": .count(figures.refused), "sent": .count(figures.sent),
            "requeued": .count(figures.requeued), "deferred": .count(figures.deferred),
            "possible-duplicates": .count(figures.possibleDuplicates), "confirmed": .count(figures.confirmed),
            "unknown": .count(figures.unknown), "withdrawn": .count(figures.withdrawn),
            "superseded": .count(figures.superseded), "failed": .count(failed),
            "failed-by-reason": .dictionary(
                Dictionary(reasons.map { ($0.word, .count($0.count)) }, uniquingKeysWith: { first, _ in first })),
            "commits": .count(figures.commits.count), "answers": .count(figures.answers.count),
        ]
        if let mean = figures.commits.mean { metadata["commit-ms"] = .milliseconds(mean) }
        if let mean = figures.answers.mean { metadata["answer-ms"] = .milliseconds(mean) }
        for lane in figures.lanes {
            var words: Logger.Metadata = ["depth": .count(lane.depth)]
            if let age = lane.oldestAge { words["oldest-s"] = .stringConvertible(age.components.seconds) }
            metadata["lane \(lane.key)"] = .dictionary(words)
        }
        return metadata
    }
}

extension Duration {
    /// Roughly, with one unit: `12 s`, `5 min`, `3 h`, `2 days`.
    var inWords: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(max(seconds, 0)) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
