internal import Holdfast

/// The one source of chance in a simulation.
struct Dice: Sendable {
    private var generator: Xoshiro256

    init(seed: UInt64) { generator = Xoshiro256(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// From 0 up to, not including, 1.
    mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }

    mutating func chance(_ probability: Double) -> Bool { probability > 0 && unit() < probability }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(generator.next() % UInt64(range.count))
    }

    /// Many small ones, few great ones.
    mutating func steep(_ range: ClosedRange<Int>) -> Int {
        let unit = unit()
        return range.lowerBound + Int(Double(range.count) * unit * unit * unit)
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

    mutating func duration(milliseconds range: ClosedRange<Int>) -> Duration { .milliseconds(steep(range)) }
}
