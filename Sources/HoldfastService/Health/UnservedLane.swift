package import Holdfast

/// A lane that holds something and that no route serves: it is left alone. The names of its properties are those of the JSON.
package struct UnservedLane: Encodable, Equatable {
    package var lane: String
    package var unconfirmed: Int

    /// - Parameter routes: the names of those that are there.
    package static func find(in status: JournalStatus, routes: [String]) -> [UnservedLane] {
        lanes(of: status, routes: routes)
            .map { UnservedLane(lane: $0.key.description, unconfirmed: $0.unconfirmed) }
    }

    /// The same, with all that is known of them.
    package static func lanes(of status: JournalStatus, routes: [String]) -> [JournalStatus.Lane] {
        status.lanes.filter { $0.unconfirmed > 0 && !routes.contains($0.key.route) }
    }
}
