/// Whether a route wants more connections than it has, or fewer.
///
/// A pure machine; time is told to it.
struct ConnectionScaler: Sendable {
    private let scaling: ConnectionScaling
    private var manySince: Duration?
    private var fewSince: Duration?

    init(_ scaling: ConnectionScaling) { self.scaling = scaling }

    /// So many entries wait at the moment.
    mutating func look(waiting: Int, now: Duration) {
        manySince = waiting > scaling.growAbove ? manySince ?? now : nil
        fewSince = waiting < scaling.shrinkBelow ? fewSince ?? now : nil
    }

    /// Whether there should be one more than `count`.
    func wantsMore(than count: Int, now: Duration) -> Bool {
        count < scaling.minimum || manySince.map { now - $0 >= scaling.growAfter } ?? false
    }

    /// Whether there should be one fewer than `count`.
    func wantsFewer(than count: Int, now: Duration) -> Bool {
        count > scaling.minimum && fewSince.map { now - $0 >= scaling.shrinkAfter } ?? false
    }

    /// When to look again at the latest.
    func nextLook(count: Int, limit: Int, now: Duration) -> Duration? {
        let grow = count < limit ? manySince.map { $0 + scaling.growAfter } : nil
        let shrink = count > scaling.minimum ? fewSince.map { $0 + scaling.shrinkAfter } : nil
        return [grow, shrink].compactMap { $0 }.filter { $0 > now }.min()
    }

    /// One was made, or closed: the next one after as long again.
    mutating func changed() { (manySince, fewSince) = (nil, nil) }
}
