/// Checks and troubles that wait for faults of the engine to be mended.
enum Awaited {
    static let throttle = false
    static let clocks = false
    static let promotions = false
    static let coverage = true
}
