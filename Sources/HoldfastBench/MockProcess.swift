internal import Foundation

/// `holdfast mock …` in a process of its own, as h2load and we meet it. It ends with this one, however that ends.
final class MockProcess {
    let port: Int
    private let process = Process()
    /// Ours is the only end that could be written to, and so it closes with us.
    private let input = Pipe()

    /// Starts it and waits until it says where it listens.
    ///
    /// - Parameter service: which mock, and its options: `["http2", "--streams", "100"]`.
    init(_ service: [String], certificateDirectory: String) throws {
        // Built beside this program.
        let holdfast = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("holdfast")
        guard FileManager.default.isExecutableFile(atPath: holdfast.path) else {
            throw BenchFailure(
                "there is no \(holdfast.path): build it with this program, `swift build` with the same options")
        }
        process.executableURL = holdfast
        process.arguments =
            ["mock"] + service
            + ["--listen", "127.0.0.1:0", "--certificate-directory", certificateDirectory, "--until-input-ends"]
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        let text = String(decoding: line, as: UTF8.self)
        guard let port = text.split(separator: ":").last.flatMap({ Int($0) }) else {
            process.terminate()
            throw BenchFailure("the mock did not start; it said: \(text)")
        }
        self.port = port
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
