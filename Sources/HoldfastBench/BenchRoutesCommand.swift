internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import Logging

struct BenchRoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "What routes cost each other: a submission among few beside one among many.",
        discussion: """
            For each number of routes: opens an engine with so many, one topic each, to senders that confirm at once; then \
            submits COUNT notifications one behind the other, in turn to routes all over, each when the one before is on \
            disk. The numbers take turns for ROUNDS. Reported are the median of a submission and its ratio to the first \
            number's, and the time to open. Machines differ and are noisy: the ratio is what counts.

            Example:
              holdfast-bench routes --routes 10 1000 --count 500
            """)

    @Option(parsing: .upToNextOption, help: "Numbers of routes.") var routes = [10, 1000]
    @Option(help: "Submissions in a round.") var count = 500
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print a JSON object for each number of routes.") var json = false

    func validate() throws {
        guard !routes.isEmpty, routes.allSatisfy({ (1...100_000).contains($0) }), count > 0, rounds > 0 else {
            throw ValidationError("--routes, --count or --rounds is out of range")
        }
    }

    func run() async throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        var runs = routes.map { _ in [RoutesBench.Run]() }
        for round in 0..<rounds {
            for (index, number) in routes.enumerated() {
                let journal = try ScratchJournal(
                    "\(round)-\(number)", in: directory.path, durability: noSync ? .process : .full)
                defer { journal.remove() }
                runs[index].append(try await RoutesBench.run(journal.journal, routes: number, count: count))
            }
        }
        var first: Double?
        for (number, runs) in zip(routes, runs) {
            let submission = Quantile.median(runs.map(\.milliseconds))
            first = first ?? submission
            let open = Quantile.median(runs.map(\.openSeconds))
            let ratio = submission / (first ?? submission)
            if json {
                let fields = [
                    ("routes", Double(number)), ("submissionMilliseconds", submission), ("ratio", ratio),
                    ("openSeconds", open),
                ]
                print(JSONFigures.object(fields, fullSync: !noSync))
            } else {
                print(
                    String(
                        format: "%6d routes: a submission %.3f ms, ratio %.2f; opened in %.2f s", number, submission,
                        ratio, open))
            }
        }
    }
}

/// Submissions one behind the other to an engine of many routes.
enum RoutesBench {
    struct Run {
        /// The median of a submission, until it is on disk.
        var milliseconds: Double
        var openSeconds: Double
    }

    static func run(_ journal: LMDBJournal, routes: Int, count: Int) async throws -> Run {
        let start = ContinuousClock.now
        let engine = try PushEngine(
            journal: journal,
            routes: (0..<routes).map { number in
                Route(
                    name: "route-\(number)", connector: SenderConnector { _ in .confirmed },
                    topics: ["com.example.app\(number)"])
            }, logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        let open = (ContinuousClock.now - start).seconds
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            group.addTask {
                try await engine.run()
                return []
            }
            group.addTask { try await submit(count, to: engine, routes: routes) }
            var times: [Double] = []
            while times.isEmpty, let next = try await group.next() { times = next }
            group.cancelAll()
            return times
        }
        return Run(milliseconds: Quantile.median(times), openSeconds: open)
    }

    private static func submit(_ count: Int, to engine: PushEngine, routes: Int) async throws -> [Double] {
        let payload = DeliveryBench.payload(200)
        var times: [Double] = []
        for number in 0..<count {
            // All over, in a fixed order.
            let route = number * 7919 % routes
            let notification = PushNotification(
                token: DeliveryBench.token(number), topic: "com.example.app\(route)", payload: payload,
                pushType: .alert)
            let start = ContinuousClock.now
            for receipt in await engine.producer.submit([notification]) { _ = try receipt.get() }
            times.append((ContinuousClock.now - start).seconds * 1000)
        }
        return times
    }
}
