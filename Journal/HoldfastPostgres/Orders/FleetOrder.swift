package import Holdfast
package import HoldfastJournal

/// An operator's order for all journals of a fleet, also for those that come later.
package struct FleetOrder: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// `nil` for all lanes.
        case lanes(LanePattern?)
        /// `nil` for all that are paused. A pause names its tag.
        case tags([UInt8]?)
    }

    /// Rises with each order.
    package var number: Int64
    package var subject: Subject
    /// Whether it pauses; else it resumes.
    package var isPause: Bool
    /// Why, for operators; may be empty.
    package var reason: String
    /// Who has given it, for people.
    package var by: String
    package var at: WallTime

    package init(
        number: Int64, _ subject: Subject, isPause: Bool, reason: String = "", by: String = "",
        at: WallTime = WallTime(milliseconds: 0)
    ) {
        (self.number, self.subject, self.isPause) = (number, subject, isPause)
        (self.reason, self.by, self.at) = (reason, by, at)
    }

    func concerns(_ lane: LaneKey) -> Bool {
        guard case .lanes(let pattern) = subject else { return false }
        return pattern?.matches(lane) ?? true
    }

    func concerns(tag: [UInt8]) -> Bool {
        guard case .tags(let own) = subject else { return false }
        return own.map { $0 == tag } ?? true
    }

    /// Whether this is about a part of the lanes of another order.
    func isPart(of other: FleetOrder) -> Bool {
        guard case .lanes(let part?) = subject, case .lanes(let whole) = other.subject else { return false }
        return whole.map { part.description.hasPrefix($0.description + "/") } ?? true
    }
}
