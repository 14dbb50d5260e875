package import Holdfast

/// The time in which a host may have accepted notifications that the database lacks: the host was lost together with commits.
package struct LossWindow: Hashable, Sendable {
    /// When the last notification was accepted that the database has, by the lost host's clock; nil where that is not known.
    package let from: WallTime?
    /// When it was noticed that the database had changed, by the database's clock: the lost host accepted nothing later.
    package let to: WallTime

    package init(from: WallTime?, to: WallTime) { (self.from, self.to) = (from, to) }

    /// `between about 2026-11-29T15:47:01Z and 2026-11-29T15:47:12Z`
    package var words: String {
        let end = Self.text(to)
        // A clock that was ahead of the database's says nothing of the beginning.
        guard let from, from < to else { return "before \(end)" }
        return "between about \(Self.text(from)) and \(end)"
    }

    /// For a journal that is delivered, as far as it is there.
    package var warning: String { "what its lost host accepted \(words) may be missing" }

    private static func text(_ time: WallTime) -> String { Timestamp.format(WallTime(seconds: time.seconds)) }
}
