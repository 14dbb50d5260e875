/// Who has written a journal: the ownerships that have kept commits, each with its first one.
///
/// Numbers of commits and epochs come again when the database goes back in time; the stamp of an ownership does not. An ownership
/// has one writer, whose commits follow each other. So two places of one journal are on one line if the same ownership has
/// written the last commit that both have.
package struct Lineage: Hashable, Sendable {
    package struct Ownership: Hashable, Sendable {
        package let first: UInt64
        /// Drawn for each ownership.
        package let stamp: String

        package init(first: UInt64, stamp: String) {
            self.first = first
            self.stamp = stamp
        }
    }

    /// How a working copy stands to the log of its journal.
    package enum Standing: Hashable, Sendable {
        /// The log has every commit of the copy.
        case behind
        /// The copy has every commit of the log, and more: the database has lost those.
        case ahead
        /// Each has commits that the other lacks.
        case apart
    }

    /// The ownerships that are remembered: enough for all openings between the time that a database went back to, and the present.
    private static let greatestCount = 256

    /// By their first commits.
    package private(set) var ownerships: [Ownership]

    package init(_ ownerships: [Ownership] = []) { self.ownerships = ownerships }

    /// The ownership that has written a commit; `nil` where that is not known, as before the first.
    package func writer(of commit: UInt64) -> String? { ownerships.last { $0.first <= commit }?.stamp }

    /// With another ownership behind a commit. Those that have written nothing are left out.
    package func adding(_ stamp: String, after last: UInt64) -> Lineage {
        let written = ownerships.filter { $0.first <= last }
        return Lineage(Array((written + [Ownership(first: last + 1, stamp: stamp)]).suffix(Self.greatestCount)))
    }

    /// - Parameters:
    ///   - copy: its last commit, 0 for none, and who has written it.
    ///   - log: the same of the database.
    package static func standing(copy: (last: UInt64, Lineage), log: (last: UInt64, Lineage)) -> Standing {
        let common = min(copy.last, log.last)
        guard copy.1.writer(of: common) == log.1.writer(of: common) else { return .apart }
        return copy.last > log.last ? .ahead : .behind
    }
}
