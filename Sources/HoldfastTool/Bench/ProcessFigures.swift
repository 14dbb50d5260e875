internal import Foundation

/// What the kernel counts for this process, read from /proc.
struct ProcessFigures {
    /// Processor time of this process and of its children that have ended, seconds (in steps of 10 ms).
    let own: Double
    let children: Double

    static func now() -> ProcessFigures {
        let stat = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
        // Behind the parenthesis that ends the name, `utime` is the twelfth field (proc(5)).
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        func ticks(_ index: Int) -> Double { index < fields.count ? Double(fields[index]) ?? 0 : 0 }
        return ProcessFigures(own: (ticks(11) + ticks(12)) / 100, children: (ticks(13) + ticks(14)) / 100)
    }

    /// Memory that belongs to this process alone, bytes: the journal's pages are the file's and do not count.
    static func privateBytes() -> Int {
        let rollup = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
        return rollup.split(separator: "\n").reduce(0) { total, line in
            guard line.hasPrefix("Private_") else { return total }
            return total + (Int(line.split(separator: " ").dropFirst().first ?? "0") ?? 0) * 1024
        }
    }
}
