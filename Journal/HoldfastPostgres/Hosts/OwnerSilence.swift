internal import Holdfast

/// How long the owner of each journal has not renewed its lease, as one host sees it in looks at all journals. It has no clock and no
/// connection.
package struct OwnerSilence {
    /// Behind it an owner counts as silent: it hands nothing out any more. Two looks and two renewals are shorter.
    package static let limit = Duration.seconds(5)
    /// Of a time in which nobody looked, since the database was away or this process was stopped, no more counts: less than the
    /// limit, since owners could not renew their leases in it either.
    private static let greatestGap = Duration.seconds(3)

    private var signs: [Int32: (sighting: Sighting, silence: Duration)] = [:]
    private var lastLook: Duration?

    package init() {}

    /// All journals were looked at.
    ///
    /// - Parameter now: by a clock of this host.
    package mutating func looked(_ journals: [ListedJournal], at now: Duration) {
        let passed = min(max(now - (lastLook ?? now), .zero), Self.greatestGap)
        lastLook = now
        let before = signs
        signs = [:]
        for journal in journals where !journal.sighting.isFree {
            let known = before[journal.id].flatMap { $0.sighting == journal.sighting ? $0.silence + passed : nil }
            signs[journal.id] = (journal.sighting, known ?? .zero)
        }
    }

    /// `nil` for an owner that renews its lease, and for a journal without one.
    package func silence(of journal: Int32) -> Duration? {
        signs[journal].flatMap { $0.silence >= Self.limit ? $0.silence : nil }
    }
}
