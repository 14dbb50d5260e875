package import Holdfast

/// A request for outcomes as they come, by its query and its field `Last-Event-ID`.
package struct OutcomeStreamQuestion: Hashable, Sendable {
    /// Begins with the first behind this one; nil for what ends from now on.
    package var after: OutcomeCursor?
    /// The Producers whose outcomes are wanted; nil for all.
    package var producers: Set<String>?
    /// The topics whose outcomes are wanted; nil for all.
    package var topics: Set<String>?

    static let names = ["after", "producer", "topic"]

    /// - Parameters:
    ///   - query: behind the `?`.
    ///   - lastEventID: goes before `after`: a client that connects again sends both, and the query is the first one's.
    /// - Throws: ``ControlError`` with code `malformed`, for people.
    package init(_ query: some StringProtocol, lastEventID: String?) throws(ControlError) {
        var (producers, topics): (Set<String>, Set<String>) = ([], [])
        for (name, value) in try QueryItems(query, known: Self.names, lists: ["producer", "topic"]).items {
            switch name {
            case "producer":
                producers.insert(
                    try Self.value(of: name) { () throws(OutcomeArgument.Fault) in try OutcomeArgument.producer(value) }
                )
            case "topic":
                topics.insert(
                    try Self.value(of: name) { () throws(OutcomeArgument.Fault) in try OutcomeArgument.topic(value) })
            default:
                after = try Self.value(of: name) { () throws(OutcomeArgument.Fault) in try OutcomeArgument.cursor(value)
                }
            }
        }
        if let lastEventID, !lastEventID.isEmpty {
            after = try Self.value(of: "Last-Event-ID") { () throws(OutcomeArgument.Fault) in
                try OutcomeArgument.cursor(lastEventID)
            }
        }
        self.producers = producers.isEmpty ? nil : producers
        self.topics = topics.isEmpty ? nil : topics
    }

    private static func value<Value>(
        of name: String, _ parse: () throws(OutcomeArgument.Fault) -> Value
    ) throws(ControlError) -> Value {
        do throws(OutcomeArgument.Fault) { return try parse() } catch {
            throw .malformed("\(name): \(error.message)")
        }
    }

    /// Whether this outcome is wanted.
    package func wants(_ outcome: Outcome) -> Bool {
        (producers?.contains(outcome.producer) ?? true) && (topics?.contains(outcome.topic) ?? true)
    }
}
