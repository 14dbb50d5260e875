internal import Logging

/// What a reconfiguration came to: the routes by name, each in one of these.
public struct Reconfiguration: Hashable, Sendable {
    /// Go on as they were.
    public internal(set) var unchanged: [String] = []
    /// Have other topics, connections or rates, and go on with the connections that they have.
    public internal(set) var changed: [String] = []
    /// Have another connector, which has taken over what waits.
    public internal(set) var replaced: [String] = []
    /// New routes.
    public internal(set) var added: [String] = []
    /// Not served any more. What waits in their lanes stays in the journal.
    public internal(set) var removed: [String] = []
}

extension Reconfiguration: CustomStringConvertible {
    /// `added a, b; removed c; 2 go on as they were`
    public var description: String {
        let parts = [("added", added), ("replaced", replaced), ("changed", changed), ("removed", removed)]
            .filter { !$1.isEmpty }
            .map { "\($0) \($1.joined(separator: ", "))" }
        return (parts + ["\(unchanged.count) go on as they were"]).joined(separator: "; ")
    }

    /// The same for machines.
    var metadata: Logger.Metadata {
        func names(_ names: [String]) -> Logger.MetadataValue { .array(names.map { .string($0) }) }
        return [
            "unchanged": names(unchanged), "changed": names(changed), "replaced": names(replaced),
            "added": names(added), "removed": names(removed),
        ]
    }
}
