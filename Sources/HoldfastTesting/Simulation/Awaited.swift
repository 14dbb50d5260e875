/// Checks and troubles that wait for faults of the engine to be mended.
enum Awaited {
    static let throttle = true
    static let clocks = true
    static let promotions = false
    static let coverage = true
}
