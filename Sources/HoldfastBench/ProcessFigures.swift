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

    /// Memory of this process's own, bytes: RssAnon of proc(5). The journal's pages are the file's and do not count.
    static func privateBytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0)
            * 1024
    }
}
