internal import Logging

/// The result of a reconfiguration: each route's name is in one of these lists.
public struct Reconfiguration: Hashable, Sendable {
    /// Routes that are the same as before.
    public internal(set) var unchanged: [String] = []
    /// Routes with other topics, connections or rates, which keep their connections.
    public internal(set) var changed: [String] = []
    /// Routes with another connector, which has taken over the waiting entries.
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
        let rest =
            unchanged.isEmpty ? [] : [counted(unchanged.count, "goes on as it was", "go on as they were")]
        return parts.isEmpty && rest.isEmpty ? "none" : (parts + rest).joined(separator: "; ")
    }

    /// The result as metadata of a log line.
    var metadata: Logger.Metadata {
        func names(_ names: [String]) -> Logger.MetadataValue { .array(names.map { .string($0) }) }
        return [
            "unchanged": names(unchanged), "changed": names(changed), "replaced": names(replaced),
            "added": names(added), "removed": names(removed),
        ]
    }
}
