/// The number of a lane within its journal, assigned when the lane is first opened.
public struct LaneID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number in the journal's records.
    public let rawValue: UInt32
    /// Creates the number of a lane, as read from a record.
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Orders by number, which is the order of registration.
    @inlinable public static func < (lhs: LaneID, rhs: LaneID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The name of a lane: an ordered queue of unconfirmed entries. The backlog of one lane never delays another.
public struct LaneKey: Hashable, Sendable, CustomStringConvertible {
    /// The name of the route that serves it; 1 to 64 bytes of UTF-8.
    public let route: String
    /// The urgency of all entries in the lane.
    public let urgency: Urgency
    /// The guarantee of all entries in the lane.
    public let guarantee: Guarantee

    /// Creates the key of a lane. The journal need not have the lane.
    public init(route: String, urgency: Urgency, guarantee: Guarantee) {
        self.route = route
        self.urgency = urgency
        self.guarantee = guarantee
    }

    /// `default/immediate/at-least-once`
    public var description: String { "\(route)/\(urgency.name)/\(guarantee.name)" }
}

/// The urgency of a lane: a route serves the more urgent lane first. There are two, so no case is added.
public enum Urgency: UInt8, Hashable, Comparable, CaseIterable, Sendable {
    /// `apns-priority` 10, or none.
    case immediate = 0
    /// `apns-priority` 5 and 1.
    case considerate = 1

    /// Orders the more urgent first.
    public static func < (lhs: Urgency, rhs: Urgency) -> Bool { lhs.rawValue < rhs.rawValue }

    /// `immediate` or `considerate`, as the tool and the configuration write it.
    public var name: String {
        switch self {
        case .immediate: "immediate"
        case .considerate: "considerate"
        }
    }
}

extension Guarantee {
    /// `at-least-once` or `at-most-once`, as NDJSON, the tool and the configuration write it.
    public var name: String {
        switch self {
        case .atLeastOnce: "at-least-once"
        case .atMostOnce: "at-most-once"
        }
    }
}
