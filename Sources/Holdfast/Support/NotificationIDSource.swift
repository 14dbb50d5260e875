/// Random apns-ids at the price of one system call for many.
package struct NotificationIDSource: Sendable {
    private var generator: Xoshiro256

    package init() {
        var system = SystemRandomNumberGenerator()
        generator = Xoshiro256(seed: (system.next(), system.next(), system.next(), system.next()))
    }

    package mutating func next() -> NotificationID { NotificationID(using: &generator) }
}

/// xoshiro256** by Blackman and Vigna (public domain, prng.di.unimi.it): fast, and good enough for identifiers that are
/// no secrets and for jitter.
package struct Xoshiro256: RandomNumberGenerator, Sendable {
    private var s: (UInt64, UInt64, UInt64, UInt64)

    package init(seed: (UInt64, UInt64, UInt64, UInt64)) {
        s = seed.0 | seed.1 | seed.2 | seed.3 == 0 ? (1, 2, 3, 4) : seed
    }

    /// A generator that repeats itself for the same seed, for tests and simulations.
    package init(seed: UInt64) {
        var state = seed
        func splitMix() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        self.init(seed: (splitMix(), splitMix(), splitMix(), splitMix()))
    }

    package mutating func next() -> UInt64 {
        let product = s.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = s.1 << 17
        s.2 ^= s.0
        s.3 ^= s.1
        s.1 ^= s.2
        s.0 ^= s.3
        s.2 ^= shifted
        s.3 = s.3 << 45 | s.3 >> 19
        return result
    }
}
