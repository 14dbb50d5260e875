/// The entries that silence has confirmed on one connection, with their positions, since a late error may still revoke that.
///
/// Held as runs of neighbours that became quiet at about the same time, so that a million entries take a few dozen bytes
/// for each step of their age. It forgets old and surplus entries, the oldest first.
///
/// A pure machine.
struct QuietlyConfirmed: Sendable {
    /// Into how many steps the period is divided by which runs age.
    private static let stepsInPeriod = 64

    private struct Piece: Sendable {
        let first: UInt64
        var run: CumulativeWindow.Run
        /// When the last of it became quiet.
        var at: Duration
        /// When the first of it did.
        let opened: Duration
    }

    private var pieces: [Piece] = []
    /// Pieces before this one are gone.
    private var head = 0
    /// Entries that are remembered.
    private(set) var count = 0
    /// For tests: how much memory it takes.
    var pieceCount: Int { pieces.count - head }

    /// Silence has confirmed these, which lay side by side from a position on.
    ///
    /// - Parameters:
    ///   - period: how long they are remembered.
    ///   - limit: the most that are.
    mutating func note(
        _ runs: [CumulativeWindow.Run], from position: UInt64, now: Duration, period: Duration, limit: Int
    ) {
        var position = position
        for run in runs {
            append(run, position, now: now, step: period / Self.stepsInPeriod)
            position += UInt64(run.count)
            count += run.count
        }
        forget(before: now - period)
        while count > limit, head < pieces.count {
            let surplus = count - limit
            let oldest = pieces[head]
            if surplus >= oldest.run.count {
                drop()
            } else {
                pieces[head] = Piece(
                    first: oldest.first + UInt64(surplus), run: oldest.run.dropping(surplus), at: oldest.at,
                    opened: oldest.opened)
                count -= surplus
            }
        }
    }

    private mutating func append(
        _ run: CumulativeWindow.Run, _ position: UInt64, now: Duration, step: Duration
    ) {
        if head < pieces.count, let last = pieces.last, now - last.opened < step, last.run.isFollowed(by: run),
            last.first + UInt64(last.run.count) == position
        {
            pieces[pieces.count - 1].run.count += run.count
            pieces[pieces.count - 1].at = now
        } else {
            pieces.append(Piece(first: position, run: run, at: now, opened: now))
        }
    }

    /// Forgets what became quiet before `time`.
    mutating func forget(before time: Duration) {
        while head < pieces.count, pieces[head].at < time { drop() }
    }

    /// Forgets all entries, because they are proven, or no error can revoke them any more.
    mutating func forgetAll() { self = QuietlyConfirmed() }

    private mutating func drop() {
        count -= pieces[head].run.count
        head += 1
        if head > 64, head * 2 > pieces.count {
            pieces.removeFirst(head)
            head = 0
        }
    }

    /// The entries whose confirmation a late error revokes.
    struct Denied: Hashable, Sendable {
        /// The one that it names, if that is remembered and was refused.
        var named: SentWindow.Flight?
        /// The entries after it, in their order.
        var later: [CumulativeWindow.Run] = []

        var count: Int { later.reduce(named == nil ? 0 : 1) { $0 + $1.count } }
    }

    /// The service refuses an entry, or names the last good one, and has discarded all behind it. What lies before is
    /// proven, so nothing is remembered afterwards.
    mutating func deny(_ error: PayloadError) -> Denied {
        defer { forgetAll() }
        var denied = Denied()
        let position = error.position.rawValue
        for piece in pieces[head...] {
            let end = piece.first + UInt64(piece.run.count)
            guard end > position else { continue }
            var rest = piece.run.dropping(Int(clamping: position - min(piece.first, position)))
            if piece.first <= position {
                if case .refused = error.kind { denied.named = rest.firstFlight }
                rest = rest.dropping(1)
            }
            if rest.count > 0 { denied.later.append(rest) }
        }
        return denied
    }
}
