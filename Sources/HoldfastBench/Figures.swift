internal import Foundation

/// Of measurements, of which there is at least one.
enum Quantile {
    static func median(_ values: [Double]) -> Double { of(values, 0.5) }

    /// The value below which the share of all values lies.
    static func of(_ values: [Double], _ share: Double) -> Double {
        precondition(!values.isEmpty, "there is no middle of nothing")
        let sorted = values.sorted()
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }
}

/// What benchmarks print for scripts.
enum JSONFigures {
    /// One object of numbers, in the order given.
    static func object(_ fields: [(String, Double)], fullSync: Bool) -> String {
        let figures = fields.map { "\"\($0)\":\(String(format: "%.6g", $1))," }.joined()
        return "{\(figures)\"fullSync\":\(fullSync)}"
    }
}
