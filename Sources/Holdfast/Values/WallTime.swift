/// An instant by the wall clock: whole milliseconds since 1 January 1970 UTC.
///
/// Wall time is only compared with times that came from outside (expirations, registrations, the service's timestamps)
/// or from an earlier life of the process (due times in the journal). Waiting is measured by a monotonic clock.
public struct WallTime: RawRepresentable, Hashable, Comparable, Sendable {
    /// Milliseconds since 1 January 1970 UTC.
    public let rawValue: Int64

    /// Creates an instant from milliseconds since 1 January 1970 UTC.
    @inlinable public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Creates an instant from milliseconds since 1 January 1970 UTC.
    @inlinable public init(milliseconds: Int64) { self.rawValue = milliseconds }

    /// - Parameter seconds: Unix seconds. Values that overflow milliseconds are clamped.
    @inlinable public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.rawValue = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Milliseconds since 1 January 1970 UTC.
    @inlinable public var milliseconds: Int64 { rawValue }
    /// Unix seconds, rounded down.
    @inlinable public var seconds: Int64 {
        let (quotient, remainder) = rawValue.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Orders the earlier first.
    @inlinable public static func < (lhs: WallTime, rhs: WallTime) -> Bool { lhs.rawValue < rhs.rawValue }

    /// The instant `duration` later; clamped, never overflowing.
    public func advanced(by duration: Duration) -> WallTime {
        let (sum, overflow) = rawValue.addingReportingOverflow(duration.wholeMilliseconds)
        return WallTime(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `other` to this one; negative when `other` is later.
    public func since(_ other: WallTime) -> Duration {
        let (difference, overflow) = rawValue.subtractingReportingOverflow(other.rawValue)
        return .milliseconds(overflow ? (rawValue < other.rawValue ? Int64.min : Int64.max) : difference)
    }
}

extension Duration {
    /// Whole milliseconds, rounded down; clamped to what an `Int64` holds.
    package var wholeMilliseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return components.seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sumOverflow ? (whole < 0 ? .min : .max) : sum
    }
}
