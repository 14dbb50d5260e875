internal import Holdfast
internal import HoldfastService

/// One moment of a delivery, and the one line that shows it.
struct ProgressLine {
    var submitted = 0
    var confirmed = 0
    var rejected = 0
    /// Notifications that have met their end, those included.
    var settled = 0
    /// Of those that the journal holds.
    var backlog = 0
    /// How much of the input was taken, 0…1; nil when its length is not known.
    var inputFraction: Double?
    /// Answers for each second, lately.
    var rate = 0.0
    /// Why nothing can be sent at the moment.
    var trouble: String?

    /// - Parameter width: columns; the line is never wider.
    func text(width: Int = 79) -> String {
        var parts = [
            "\(Format.count(submitted)) submitted", "\(Format.count(confirmed)) confirmed",
            "\(Format.count(rejected)) rejected",
        ]
        if let trouble {
            parts.append("\(Format.count(backlog)) waiting: \(trouble)")
        } else {
            parts.append("\(Format.count(Int(rate)))/s")
            if let left = timeLeft { parts.append("\(Format.duration(left)) left") }
        }
        let line = parts.joined(separator: ", ")
        guard line.count <= width else { return String(line.prefix(width - 1)) + "…" }
        guard trouble == nil, let fraction else { return line }
        // The bar takes what room is left.
        let room = min(width - line.count - 3, 12)
        return room < 4 ? line : Self.bar(fraction, width: room) + " " + line
    }

    /// All that there is to do by what is known: what the rest of the input will bring is judged by what it brought so far.
    private var expectedRest: Double? {
        guard let inputFraction else { return nil }
        guard inputFraction < 1 else { return Double(backlog) }
        guard inputFraction > 0 else { return nil }
        return Double(backlog) + Double(submitted) * (1 - inputFraction) / inputFraction
    }

    private var fraction: Double? {
        guard let expectedRest else { return nil }
        let all = Double(settled) + expectedRest
        return all > 0 ? Double(settled) / all : nil
    }

    private var timeLeft: Duration? {
        guard let expectedRest, rate >= 1 else { return nil }
        return .seconds(min(expectedRest / rate, 359_999).rounded(.up))
    }

    private static func bar(_ fraction: Double, width: Int) -> String {
        let full = Int((Double(width) * min(max(fraction, 0), 1)).rounded(.down))
        return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full) + "]"
    }
}

/// The rate over the last few looks, so that the figure is calm and yet of now.
struct RateMeter {
    private var samples: [(time: Duration, count: Int)] = []
    private static let span: Duration = .seconds(3)

    mutating func add(_ count: Int, at time: Duration) {
        samples.append((time, count))
        // One sample older than the span stays, to measure against.
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// For each second.
    var rate: Double {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
        let seconds = (last.time - first.time) / .seconds(1)
        return max(0, Double(last.count - first.count)) / seconds
    }
}
