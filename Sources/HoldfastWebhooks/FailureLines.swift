/// Decides which failures of a receiver, and which of its recoveries, have a line in the log: a receiver that fails now and
/// then, in each second, would fill it. A pure machine: times are arguments.
struct FailureLines: Sendable {
    /// The shortest time between the lines of two failures.
    let interval: Duration
    /// When the last line of a failure was written.
    private var lastLine: Duration?
    private var isQuiet = false
    /// Failures that passed without a line since the last one.
    private var passed = 0

    init(interval: Duration) { self.interval = interval }

    /// A failure begins.
    ///
    /// - Returns: the number of failures that passed without a line before it; nil to write none.
    mutating func begins(now: Duration) -> Int? {
        isQuiet = lastLine.map { now - $0 < interval } ?? false
        guard !isQuiet else {
            passed += 1
            return nil
        }
        return line(now)
    }

    /// A failure that began without a line lasts.
    ///
    /// - Returns: the number of others that passed without one; nil to write none, or where it has one.
    mutating func lasts(now: Duration) -> Int? {
        guard isQuiet, let lastLine, now - lastLine >= interval else { return nil }
        isQuiet = false
        passed -= 1
        return line(now)
    }

    /// The failure is over.
    ///
    /// - Returns: whether that has a line: where its beginning had one.
    mutating func ends() -> Bool {
        defer { isQuiet = false }
        return !isQuiet
    }

    private mutating func line(_ now: Duration) -> Int {
        defer { (lastLine, passed) = (now, 0) }
        return passed
    }
}
