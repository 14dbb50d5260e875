/// How a trial's peer behaves.
enum Temper: String, CaseIterable {
    /// As it should: the session must not fail it.
    case honest
    /// Mostly as it should; now and then something else.
    case sly
    /// One malice again and again, while requests go on.
    case flood
    /// A right conversation with bytes changed on their way.
    case noisy
    /// Whatever comes.
    case wild
}
