/// Decides whether the disk of a host has room for the working copies of journals that it takes over. It has no clock and no disk.
///
/// A copy that finds no room is given back, and its journal is free again. A host that took it again at once would do so for ever:
/// each try writes until the disk is full, and keeps the journal from hosts that have room. So a journal is taken only where its
/// copy has room beside those that are being made. Where that was wrong, it is tried again after a pause that grows, or as soon as
/// more is free than the last try had.
package struct TakeoverRoom: Sendable {
    /// A journal that is not taken for want of room.
    package struct Want: Hashable, Sendable {
        package let journal: String
        /// Bytes that must be free before it is taken.
        package let needed: Int
        package let available: Int

        package init(journal: String, needed: Int, available: Int) {
            (self.journal, self.needed, self.available) = (journal, needed, available)
        }
    }

    /// From a try that found no room to the next.
    package static let firstPause = Duration.seconds(60)
    package static let greatestPause = Duration.seconds(960)
    /// How much more must be free for a try before the pause is over.
    package static let step = 16 << 20

    /// The first of those that were not taken at the last look.
    package private(set) var want: Want?
    /// The same, of the look that is under way.
    private var found: Want?
    private var failures = 0
    private var pauseEnd: Duration?
    /// Bytes that must be free during the pause.
    private var floor = 0
    /// Bytes for copies that are being made, by the journal's number.
    private var promised: [Int32: Int] = [:]

    package init() {}

    /// Journals are looked at next. Until the end of the look, what was wanted before is still told.
    package mutating func beginLook() { found = nil }

    /// All that may be taken were looked at.
    package mutating func endLook() { want = found }

    /// - Parameters:
    ///   - needed: about, for its copy.
    ///   - available: bytes that are free; nil where the system does not say.
    package mutating func mayTake(_ journal: String, needed: Int, available: Int?, at now: Duration) -> Bool {
        guard let available else { return true }
        let free = available - promised.values.reduce(0, +)
        let isPausing = pauseEnd.map { now < $0 } ?? false
        let needed = isPausing ? max(needed, floor) : needed
        guard free < needed else { return true }
        found = found ?? Want(journal: journal, needed: needed, available: max(free, 0))
        return false
    }

    /// A journal was taken, and its copy is made.
    package mutating func took(_ journal: Int32, needed: Int) { promised[journal] = needed }

    /// A journal that was taken is open.
    package mutating func opened(_ journal: Int32) {
        promised[journal] = nil
        (failures, pauseEnd, floor) = (0, nil, 0)
    }

    /// A journal that was taken is given back.
    package mutating func left(_ journal: Int32) { promised[journal] = nil }

    /// A journal was given back for want of room.
    ///
    /// - Parameter available: bytes that are free since then; nil where the system does not say.
    package mutating func failed(available: Int?, at now: Duration) {
        let pause = min(Self.firstPause * (1 << min(failures, 8)), Self.greatestPause)
        failures += 1
        (pauseEnd, floor) = (now + pause, (available ?? 0) + Self.step)
    }
}
