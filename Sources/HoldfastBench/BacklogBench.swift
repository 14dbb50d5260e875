internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

struct BenchBacklogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backlog",
        abstract: "What a backlog costs: memory, and the time to the first hand-out after a start.",
        discussion: """
            For each size: journals that many notifications, then lets a new process open the journal and deliver from it \
            to a sender that confirms at once. Reported are the time from opening to the first hand-out, and the private \
            memory (RssAnon) at its highest while 100,000 are delivered. Neither grows with the backlog.

            With --database the journal is in PostgreSQL, and the new process makes a working copy of it first, as a host does \
            that takes it over: that takes the longer, the more there is to read.

            Example:
              holdfast-bench backlog --sizes 10000,1000000
            """)

    @Option(help: "Sizes of the backlog, separated by commas.") var sizes = "10000,1000000"
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Option(help: "A database, as libpq writes it, for a role that may make a schema.") var database: String?
    @Option(help: "The schema there.") var schema = "holdfast_bench"
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print a JSON object for each size.") var json = false
    @Option(help: .hidden) var measure: String?

    private var counts: [Int] { sizes.split(separator: ",").compactMap { Int($0) } }

    func validate() throws {
        guard !counts.isEmpty, counts.allSatisfy({ $0 > 0 }), (20...4096).contains(payload) else {
            throw ValidationError("--sizes or --payload is out of range")
        }
    }

    func run() async throws {
        if let measure { return print(try await BacklogBench.deliver(from: try place(measure, copies: "taken"))) }
        let directory = try scratch.make()
        defer { directory.remove() }
        for count in counts {
            let path = "\(directory.path)/\(count).journal"
            try await BacklogBench.fill(try place(path, copies: "made"), count: count, payloadBytes: payload)
            let more = database.map { ["--database", $0, "--schema", schema] } ?? []
            let words = try BacklogBench.measureInNewProcess([path] + more).split(separator: " ").compactMap {
                Double($0)
            }
            guard words.count == 3 else { throw BenchFailure("the measuring process said nothing") }
            if json {
                let memory = String(
                    format: "\"privateMegabytes\":%.2f,\"privateMegabytesAtFirst\":%.2f", words[1], words[2])
                let first = String(format: "%.3f", words[0])
                print("{\"backlog\":\(count),\"firstHandOutMilliseconds\":\(first),\(memory)}")
            } else {
                print(
                    String(
                        format: "%10d waiting: first hand-out after %.1f ms, at most %.1f MB private", count, words[0],
                        words[1]))
            }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    private func place(_ path: String, copies: String) throws -> BenchJournalPlace {
        guard let database else { return .directory(path) }
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return .postgres(
            try BenchDatabase(database, schema).terms(host: "backlog-\(name)"), copies: "\(path)/\(copies)")
    }
}

/// A journal with a backlog, made by one process and delivered from by another.
enum BacklogBench {
    /// Notifications delivered while memory is looked at.
    static let delivered = 100_000

    static func fill(_ place: BenchJournalPlace, count: Int, payloadBytes: Int) async throws {
        let (journal, close) = try place.open()
        defer { close() }
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: SenderConnector { _ in .confirmed })])
        let bench = DeliveryBench.self
        let payload = bench.payload(payloadBytes)
        for first in stride(from: 0, to: count, by: 5000) {
            let batch = (first..<min(first + 5000, count)).map { number in
                PushNotification(
                    token: bench.token(number), topic: bench.topic, payload: payload, pushType: .alert)
            }
            for receipt in await engine.producer.submit(batch) { _ = try receipt.get() }
        }
    }

    /// - Parameter arguments: the journal's path, and options.
    static func measureInNewProcess(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["backlog", "--measure"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let words = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchFailure("the measuring process failed") }
        return String(decoding: words, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private struct Seen: Sendable {
        var first: Duration?
        var bytesAtFirst = 0
        var most = 0
        var count = 0
    }

    /// - Returns: milliseconds to the first hand-out, and private megabytes at most and at that moment.
    static func deliver(from place: BenchJournalPlace) async throws -> String {
        let start = ContinuousClock.now
        let seen = Monitor(Seen())
        let (journal, close) = try place.open()
        defer { close() }
        let total = try journal.status().unconfirmed
        let connector = SenderConnector(concurrency: 1000) { _ in
            seen.withLock { seen in
                if seen.first == nil {
                    seen.first = ContinuousClock.now - start
                    seen.bytesAtFirst = ProcessFigures.privateBytes()
                }
                seen.count += 1
                if seen.count % 1000 == 0 { seen.most = max(seen.most, ProcessFigures.privateBytes()) }
            }
            return .confirmed
        }
        let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await engine.run() }
            let wanted = min(total, delivered)
            while seen.withLock({ $0.count < wanted }) { try? await Task.sleep(for: .milliseconds(10)) }
            group.cancelAll()
        }
        let figures = seen.withLock { $0 }
        return String(
            format: "%.3f %.3f %.3f", (figures.first ?? .zero).seconds * 1000, Double(figures.most) / 1_048_576,
            Double(figures.bytesAtFirst) / 1_048_576)
    }
}
