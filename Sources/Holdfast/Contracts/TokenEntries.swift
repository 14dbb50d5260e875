/// The blacklist entries of one recipient, and the rules by which an addition replaces or removes some. Shared by all
/// storages.
///
/// A pure machine.
package struct TokenEntries: Sendable {
    /// The most entries. A token is bad for a few topics and services; one with more is a sender's mistake, and must not slow
    /// down every look-up.
    package static let greatestCount = 64

    /// One for each scope, in the order of the scopes.
    package private(set) var entries: [BlacklistEntry]

    /// - Parameter entries: of one recipient, one for each scope.
    package init(_ entries: [BlacklistEntry] = []) { self.entries = entries.sorted { $0.scope < $1.scope } }

    /// Adds an entry, or renews the entry of its scope.
    ///
    /// Of the two, the later ``BlacklistEntry/since`` and the later ``BlacklistEntry/expiresAt`` stay: an entry without an end
    /// gets none by a renewal, and one that has expired is renewed although it holds since the same time.
    ///
    /// At ``greatestCount`` the oldest addition among the entries for one topic is removed. Entries for every topic came from
    /// an operator or a feedback service, which do not repeat them, so they stay.
    ///
    /// - Parameter number: the last number assigned to an addition; incremented for this one.
    /// - Returns: whether anything changed.
    package mutating func add(_ entry: BlacklistEntry, number: inout UInt64) -> Bool {
        let known = entries.firstIndex { $0.scope == entry.scope }
        var entry = entry
        if let known {
            let other = entries[known]
            if other.since >= entry.since, !entry.outlasts(other) { return false }
            entry.since = max(entry.since, other.since)
            if other.outlasts(entry) { entry.expiresAt = other.expiresAt }
        }
        number += 1
        entry.number = number
        if let known {
            entries[known] = entry
            return true
        }
        if entries.count >= Self.greatestCount {
            let oldest =
                entries.filter { $0.topic != nil }.min { $0.number < $1.number }
                ?? entries.min { $0.number < $1.number }
            entries.removeAll { $0.scope == oldest?.scope }
        }
        entries.insert(entry, at: entries.firstIndex { entry.scope < $0.scope } ?? entries.endIndex)
        return true
    }

    /// Restores an entry that was found, with its number, unless there is no room or an entry of its scope with the same or a
    /// later `since`.
    ///
    /// - Returns: whether anything changed.
    package mutating func restore(_ entry: BlacklistEntry) -> Bool {
        if let known = entries.firstIndex(where: { $0.scope == entry.scope }) {
            guard entries[known].since < entry.since else { return false }
            entries[known] = entry
            return true
        }
        guard entries.count < Self.greatestCount else { return false }
        entries.insert(entry, at: entries.firstIndex { entry.scope < $0.scope } ?? entries.endIndex)
        return true
    }

    /// Puts an entry as it is, with its number, in the place of the one of its scope.
    package mutating func set(_ entry: BlacklistEntry) {
        entries.removeAll { $0.scope == entry.scope }
        entries.insert(entry, at: entries.firstIndex { entry.scope < $0.scope } ?? entries.endIndex)
    }

    /// Removes the entries that a registration lifts.
    ///
    /// - Returns: how many there were.
    package mutating func lift(by registration: TokenRegistration) -> Int {
        remove { entry in
            entry.since < registration.registeredAt
                && entry.scope.covers(topic: registration.topic, endpoint: registration.endpoint)
        }
    }

    /// - Parameter scope: nil for all.
    /// - Returns: how many there were.
    package mutating func remove(_ scope: BlacklistScope?) -> Int {
        remove { entry in scope.map { $0 == entry.scope } ?? true }
    }

    private mutating func remove(where isMeant: (BlacklistEntry) -> Bool) -> Int {
        let count = entries.count
        entries.removeAll(where: isMeant)
        return count - entries.count
    }
}

extension BlacklistEntry {
    /// Whether it still holds when another one has expired.
    fileprivate func outlasts(_ other: BlacklistEntry) -> Bool {
        guard let end = other.expiresAt else { return false }
        return expiresAt.map { $0 > end } ?? true
    }
}
