internal import Holdfast
internal import HoldfastService

/// Says when silence has confirmed what a lane held: when nothing is left of it, and under constant load now and then.
/// A pure machine; time is told to it.
struct SilenceReporter {
    /// Under constant load, from one line about a lane to the next.
    static let pause: Duration = .seconds(10)

    private struct Lane {
        var confirmed = 0
        var saidAt: Duration?
    }

    let quietPeriod: Duration
    private var lanes: [LaneKey: Lane] = [:]

    init(quietPeriod: Duration) { self.quietPeriod = quietPeriod }

    /// Silence has confirmed so many, and they are out of the journal.
    ///
    /// - Parameter left: how many of the lane are in it yet.
    /// - Returns: what to say.
    mutating func cleared(_ key: LaneKey, count: Int, through uid: UID, left: Int, at now: Duration) -> String? {
        var lane = lanes[key] ?? Lane()
        lane.confirmed += count
        // Load that is constant is never clear, and the first line about it comes after the pause, too.
        let saidAt = lane.saidAt ?? now
        lane.saidAt = saidAt
        defer { lanes[key] = lane }
        guard left == 0 || now - saidAt >= Self.pause else { return nil }
        defer { lane = Lane(saidAt: now) }
        let confirmed = "\(Format.plural(lane.confirmed, "notification")) up to \(uid) confirmed"
        let rest = left == 0 ? "the journal is clear" : "\(Format.count(left)) left"
        return "\(key): \(confirmed) by \(Format.duration(quietPeriod)) of silence; \(rest)"
    }
}
