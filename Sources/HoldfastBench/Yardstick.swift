internal import Foundation

/// h2load (nghttp2), which sends the same requests and keeps nothing: the yardstick that every figure stands beside.
struct Yardstick {
    struct Run {
        let perSecond: Double
        let cpuMicroseconds: Double
    }

    let path: String

    /// Where it is installed; nil when it is not.
    static func find() -> Yardstick? {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return directories.map { "\($0)/h2load" }.first(where: FileManager.default.isExecutableFile(atPath:)).map(
            Yardstick.init)
    }

    /// One run.
    ///
    /// - Throws: when it can't be run, or not every request was answered with 200.
    ///
    /// - Parameters:
    ///   - connections: share the streams and the requests.
    ///   - more: options of h2load's own.
    func run(
        count: Int, streams: Int, connections: Int = 1, headers: [String], bodyFile: String, url: String,
        more: [String] = []
    ) throws -> Run {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments =
            ["-n", "\(count)", "-c", "\(connections)", "-t", "1", "-m", "\(streams)", "-d", bodyFile] + more
            + headers.flatMap { ["-H", $0] } + [url]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let before = ProcessFigures.now()
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let after = ProcessFigures.now()
        guard text.contains("\(count) succeeded"), let perSecond = Self.rate(in: text) else {
            throw BenchFailure("h2load did not get \(count) answers:\n\(text)")
        }
        return Run(
            perSecond: perSecond, cpuMicroseconds: (after.children - before.children) * 1_000_000 / Double(count))
    }

    /// From `finished in 1.24s, 403225.81 req/s, 9.85MB/s`.
    private static func rate(in text: String) -> Double? {
        for line in text.split(separator: "\n") where line.hasPrefix("finished in") {
            return line.split(separator: ",").dropFirst().first
                .flatMap { $0.split(separator: " ").first }.flatMap { Double($0) }
        }
        return nil
    }
}

/// Why a benchmark has no result.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
