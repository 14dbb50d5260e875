import Foundation
import HoldfastTesting

/// Shares the seeds among processes, starts another one where one dies, and sums up.
final class Supervisor: @unchecked Sendable {  // all state is touched under the lock
    /// A seed that takes longer hangs.
    private static let patience: TimeInterval = 120
    private static let greatestFailures = 20

    private struct Job {
        var process: Process?
        var seed: UInt64
        var began = Date()
        var isHung = false
    }

    private let options: SimulatorOptions
    private let lock = NSLock()
    private var jobs: [Job] = []
    private var done = 0
    private var steps = 0
    private var lives = 0
    private var accepted = 0
    private var trouble: [String: Int] = [:]
    private var failures: [UInt64] = []
    private let started = Date()
    private let isTerminal = isatty(2) == 1

    init(_ options: SimulatorOptions) { self.options = options }

    private var end: UInt64 { options.from + options.seeds }
    private var mayGoOn: Bool { options.keepsGoing || failures.isEmpty }

    func run() -> Int32 {
        let count = options.jobs ?? ProcessInfo.processInfo.activeProcessorCount
        jobs = (0..<count).map { Job(process: nil, seed: options.from + UInt64($0)) }
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            let thread = Thread { [self] in
                work(index, stride: UInt64(count))
                group.leave()
            }
            thread.start()
        }
        while group.wait(timeout: .now() + 1) == .timedOut {
            endHung()
            showProgress()
        }
        if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
        print(summary)
        return failures.isEmpty ? 0 : 1
    }

    // MARK: One job

    private func work(_ index: Int, stride: UInt64) {
        var seed = options.from + UInt64(index)
        while seed < end, lock.withLock({ mayGoOn && failures.count < Self.greatestFailures }) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = [
                "--worker", "--from", "\(seed)", "--seeds", "\(end)", "--jobs", "\(stride)", "--journal",
                options.medium.rawValue,
            ]
            var environment = ProcessInfo.processInfo.environment
            environment["SWIFT_BACKTRACE"] = "enable=no"
            process.environment = environment
            let pipe = Pipe()
            process.standardOutput = pipe
            do {
                try process.run()
            } catch {
                return fail(seed, "the worker did not start: \(error)")
            }
            lock.withLock { jobs[index].process = process }
            var reader = LineReader(pipe.fileHandleForReading)
            while let line = reader.next() {
                take(line, index)
                if lock.withLock({ !mayGoOn }) { process.terminate() }
            }
            process.waitUntilExit()
            let (isHung, last) = lock.withLock {
                defer { jobs[index].isHung = false }
                jobs[index].process = nil
                return (jobs[index].isHung, jobs[index].seed)
            }
            guard process.terminationStatus != 0, lock.withLock({ mayGoOn }) else { return }
            fail(
                last,
                isHung
                    ? "seed \(last) hangs: it took longer than \(Int(Self.patience)) s (promise 9)"
                    : "seed \(last) has crashed the process, signal or status \(process.terminationStatus) (promise 10)"
            )
            seed = last + stride
        }
    }

    private func take(_ line: String, _ index: Int) {
        guard let kind = line.first else { return }
        let words = line.dropFirst(2).split(separator: " ")
        switch kind {
        case ">":
            lock.withLock {
                jobs[index].seed = words.first.flatMap { UInt64($0) } ?? 0
                jobs[index].began = Date()
            }
        case "<": lock.withLock { succeeded(words) }
        case "!":
            lock.withLock {
                done += 1
                if let seed = words.first.flatMap({ UInt64($0) }) { failures.append(seed) }
            }
        default:
            FileHandle.standardError.write(Data((line.dropFirst(2) + "\n").utf8))
        }
    }

    private func succeeded(_ words: [Substring]) {
        guard words.count >= 4 else { return }
        done += 1
        steps += Int(words[1]) ?? 0
        lives += Int(words[2]) ?? 0
        accepted += Int(words[3]) ?? 0
        for word in words.dropFirst(4) {
            let parts = word.split(separator: "=")
            if parts.count == 2 { trouble[String(parts[0]), default: 0] += Int(parts[1]) ?? 0 }
        }
    }

    private func fail(_ seed: UInt64, _ message: String) {
        lock.withLock {
            done += 1
            failures.append(seed)
        }
        let text = "\(message)\nreplay with: Scripts/simulate --seed \(seed) --verbose\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    private func endHung() {
        lock.withLock {
            for index in jobs.indices {
                guard let process = jobs[index].process, Date().timeIntervalSince(jobs[index].began) > Self.patience
                else { continue }
                jobs[index].isHung = true
                jobs[index].began = Date()
                kill(process.processIdentifier, SIGKILL)
            }
        }
    }

    // MARK: What is said

    private func showProgress() {
        guard isTerminal else { return }
        let (done, failed) = lock.withLock { (self.done, failures.count) }
        let seconds = max(Date().timeIntervalSince(started), 0.1)
        let line = "\r\u{1B}[K\(done) of \(options.seeds) seeds, \(failed) failed, \(Int(Double(done) / seconds))/s"
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// One line of JSON.
    private var summary: String {
        let never = Trouble.allCases.map(\.rawValue).filter { trouble[$0] == nil }
        let counts = trouble.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        let failed = failures.sorted().map { "\($0)" }.joined(separator: ",")
        let seconds = (Date().timeIntervalSince(started) * 10).rounded() / 10
        return """
            {"seeds":\(done),"from":\(options.from),"failed":[\(failed)],"steps":\(steps),"lives":\(lives),\
            "accepted":\(accepted),"seconds":\(seconds),"trouble":{\(counts)},\
            "never":[\(never.map { "\"\($0)\"" }.joined(separator: ","))]}
            """
    }
}

/// Lines from a pipe, as they come.
private struct LineReader {
    private let handle: FileHandle
    private var buffer = Data()

    init(_ handle: FileHandle) { self.handle = handle }

    /// - Returns: nil at the end.
    mutating func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeSubrange(buffer.startIndex...end) }
                return String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
            }
            let more = handle.availableData
            if more.isEmpty { return nil }
            buffer += more
        }
    }
}
