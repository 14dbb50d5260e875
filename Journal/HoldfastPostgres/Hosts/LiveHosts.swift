internal import Holdfast

/// Counts the hosts that live, from looks at the journals of all hosts. It has no clock and no connection.
///
/// A host counts from the first look that shows it accepting: what hosts divide is divided among too few for no longer than a look
/// takes. It counts until it was not heard of for ``keeping``, so that the restart of a host changes nothing, or until another host
/// has taken its journal: then its lease is over, and if it comes back it has another journal.
package struct LiveHosts: Sendable {
    /// How long a host is counted that is not heard of.
    package static let keeping = Duration.seconds(30)
    /// How long a host is one that something can be left to. Two looks and two renewals of a lease are shorter.
    package static let presence = Duration.seconds(5)
    /// Of a time in which nobody looked, since the database was away or this process was stopped, no more counts.
    private static let greatestGap = Duration.seconds(5)

    /// Of one journal that a host accepts into.
    private struct Sign {
        var sighting: Sighting
        /// How long it was not heard of, as far as it was looked for.
        var silence = Duration.zero
    }

    private var signs: [Int32: Sign] = [:]
    private var lastLook: Duration?
    /// Of the journals that this host has.
    private var own: [Int32: Sighting] = [:]
    /// Since this host's own beats were seen: while they do not arrive, such as while commits wait for a standby, those of others
    /// say nothing.
    private var unsure = Duration.zero

    package init() {}

    /// The hosts that were heard of just now, with this one: it may leave work to the others. Fewer than ``looked(_:mine:at:)``
    /// counts, as long as one that is gone may come back.
    package var present: Int { presentJournals.count + 1 }

    /// The journals that the others of them accept into.
    package var presentJournals: Set<Int32> { Set(signs.filter { $0.value.silence < Self.presence }.keys) }

    /// All journals were looked at.
    ///
    /// - Parameters:
    ///   - mine: journals that this host has.
    ///   - now: by a clock of this host.
    /// - Returns: the number of hosts, with this one.
    package mutating func looked(_ journals: [ListedJournal], mine: Set<Int32>, at now: Duration) -> Int {
        let passed = passed(seeing: journals, mine: mine, at: now)
        for id in signs.keys { signs[id]?.silence += passed }
        for journal in journals where !journal.sighting.isFree {
            if !journal.isOfItsHost || mine.contains(journal.id) {
                signs[journal.id] = nil
            } else if !journal.isClosed, signs[journal.id]?.sighting != journal.sighting {
                signs[journal.id] = Sign(sighting: journal.sighting)
            }
        }
        return signs.values.count { $0.silence < Self.keeping } + 1
    }

    /// - Returns: how long was looked for others, and they could have been heard of.
    private mutating func passed(seeing journals: [ListedJournal], mine: Set<Int32>, at now: Duration) -> Duration {
        unsure = min(unsure + max(now - (lastLook ?? now), .zero), Self.greatestGap)
        lastLook = now
        let seen = journals.filter { mine.contains($0.id) }
        let present = Dictionary(seen.map { ($0.id, $0.sighting) }, uniquingKeysWith: { $1 })
        guard present.isEmpty || present != own else { return .zero }
        own = present
        defer { unsure = .zero }
        return unsure
    }
}

extension ListedJournal {
    /// The host that the journal is named after, whoever has it now.
    package var namesake: String { String(name.prefix { $0 != "#" }) }

    /// Whether the host that has it accepts into it, by its name: one that was taken over is named after another host.
    package var isOfItsHost: Bool {
        guard let host, name.hasPrefix(host) else { return false }
        let rest = name.dropFirst(host.count)
        return rest.isEmpty || rest.first == "#" && rest.dropFirst().allSatisfy(\.isWholeNumber)
    }
}
