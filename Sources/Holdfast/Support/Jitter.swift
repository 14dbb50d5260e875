/// Random numbers of one route, from a seed. Confined to the thread that runs the route's turns.
final class Jitter {
    private var generator: Xoshiro256

    init(seed: UInt64) { generator = Xoshiro256(seed: seed) }

    /// A number from 0 up to, not including, 1.
    func unit() -> Double { Double.random(in: 0..<1, using: &generator) }
}
