internal import Foundation
internal import HoldfastPlatform

/// The system's figures about this process, with the names of Prometheus' own client libraries. On Linux; elsewhere
/// none.
public enum ProcessMetrics {
    /// The figures, read now.
    public static var families: [MetricFamily] {
        var families: [MetricFamily] = []
        func add(_ name: String, _ kind: MetricFamily.Kind = .gauge, _ help: String, _ value: Double?) {
            if let value { families.append(MetricFamily("process_\(name)", kind, help, value)) }
        }
        let stat = ProcessStat()
        add("cpu_seconds_total", .counter, "User and system CPU time.", stat?.cpuSeconds)
        add("start_time_seconds", .gauge, "Unix time at which the process began.", stat?.startTime)
        let memory = fields(of: "/proc/self/status", ["VmRSS:", "VmSize:"])
        add("resident_memory_bytes", .gauge, "Memory in use.", memory["VmRSS:"].map { $0 * 1024 })
        add("virtual_memory_bytes", .gauge, "Address space in use.", memory["VmSize:"].map { $0 * 1024 })
        add("open_fds", .gauge, "Open file descriptors.", openFiles)
        add(
            "max_fds", .gauge, "File descriptors that may be open.", fields(of: "/proc/self/limits", ["files"])["files"]
        )
        return families
    }

    private static var openFiles: Double? {
        do {
            // One of the descriptors reads the directory.
            return Double(max(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1, 0))
        } catch {
            return nil
        }
    }

    /// The number behind each of these words.
    private static func fields(of file: String, _ words: [String]) -> [String: Double] {
        var found: [String: Double] = [:]
        for line in text(file).split(separator: "\n") {
            let parts = line.split(whereSeparator: \.isWhitespace)
            for word in words {
                guard let index = parts.firstIndex(where: { $0 == word }), index + 1 < parts.count else { continue }
                found[word] = Double(parts[index + 1])
            }
        }
        return found
    }

    fileprivate static func text(_ file: String) -> String { ProcessFiles.text(file) ?? "" }
}

/// `/proc/self/stat`, as proc(5) has it.
private struct ProcessStat {
    let cpuSeconds: Double
    let startTime: Double

    init?() {
        // The name in parentheses may hold anything; what follows is fields with spaces between.
        let text = ProcessMetrics.text("/proc/self/stat")
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        let ticks = Double(sysconf(CInt(_SC_CLK_TCK)))
        // From the third on: utime is the 14th, stime the 15th, starttime the 22nd.
        guard fields.count > 19, ticks > 0, let user = Double(fields[11]), let system = Double(fields[12]),
            let start = Double(fields[19])
        else { return nil }
        cpuSeconds = (user + system) / ticks
        let boot = ProcessMetrics.text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { Double($0.dropFirst(6)) }
        guard let boot else { return nil }
        startTime = boot + start / ticks
    }
}
