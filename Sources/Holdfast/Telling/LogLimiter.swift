/// Holds back lines that say the same again and again: one of a kind in an interval, which says how many were left out
/// since the one before it. A service that resets every connection at once must not fill a disk with words.
///
/// A pure machine.
package struct LogLimiter<Line: Hashable & Sendable>: Sendable {
    private struct Kind: Sendable {
        var loggedAt: Duration
        var leftOut = 0
    }

    /// From one line of a kind to the next. Zero holds nothing back.
    package let interval: Duration
    /// As many as there are kinds of lines, at most.
    private var kinds: [Line: Kind] = [:]

    package init(interval: Duration) { self.interval = interval }

    /// - Parameter now: by the monotonic clock.
    /// - Returns: nil for a line to leave out; else how many of its kind were left out since the last one.
    package mutating func admit(_ line: Line, now: Duration) -> Int? {
        guard let kind = kinds[line], now < kind.loggedAt + interval else {
            return kinds.updateValue(Kind(loggedAt: now), forKey: line)?.leftOut ?? 0
        }
        kinds[line]?.leftOut += 1
        return nil
    }
}
