internal import ArgumentParser
internal import Foundation
internal import HoldfastJournal

struct BenchGatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "h2load through a gateway, beside h2load to the service itself.",
        discussion: """
            In each round h2load (Debian: nghttp2-client) sends COUNT requests over TLS to a mock on this machine, and then \
            as many to a gateway of this process, which journals each before it answers 200 and delivers to the same mock \
            all the while. The rate is h2load's own, from its first request to its last answer. Machines differ and are \
            noisy: the ratio of one run is what counts.

            With --latency it sends one request at a time instead, RATE a second, so that each is alone with the disk, and \
            says how long the answers take, beside how long the disk takes for a sync, and the journal for a commit of one \
            notification: the floor.

            Examples:
              holdfast-bench gateway --count 300000 --rounds 5
              holdfast-bench gateway --latency
            """)

    @Option(help: "Requests in a round. (default: 300000; with --latency 2000)") var count: Int?
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(help: "Concurrent streams of each connection.") var streams = 1000
    @Option(help: "Connections of h2load.") var connections = 1
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Flag(help: "Measure single durable submissions instead.") var latency = false
    @Option(help: "With --latency: requests a second.") var rate = 100
    @Option(help: "Seconds that requests wait for the service's answer, in turn with runs that do not; 0 for none.")
    var answer = 0
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print one JSON object.") var json = false

    /// One at a time takes longer.
    var requests: Int { count ?? (latency ? 2000 : 300_000) }

    func validate() throws {
        guard requests > 0, rounds > 0, (1...100_000).contains(streams), (1...1000).contains(connections),
            (20...4096).contains(payload), (1...100_000).contains(rate), (0...60).contains(answer)
        else {
            throw ValidationError(
                "--count, --rounds, --streams, --connections, --payload, --rate or --answer is out of range")
        }
    }

    func run() async throws {
        guard let yardstick = Yardstick.find() else {
            throw BenchFailure("h2load is not installed (Debian: nghttp2-client)")
        }
        let directory = try scratch.make()
        defer { directory.remove() }
        let mock = try MockProcess(
            ["http2", "--streams", "\(streams)"], certificateDirectory: "\(directory.path)/certificates")
        defer { mock.stop() }
        var bench = try GatewayBench(
            yardstick: yardstick, mockPort: mock.port, streams: streams, connections: connections,
            payload: DeliveryBench.payload(payload), directory: directory.path, durability: noSync ? .process : .full)
        if answer > 0 {
            let plain = bench
            bench.answerWait = .seconds(answer)
            return print(try await inTurn(plain, bench))
        }
        print(try await latency ? singly(bench) : together(bench))
    }

    private func together(_ bench: GatewayBench) async throws -> String {
        var report = GatewayReport(command: self)
        for round in 1...rounds {
            report.direct.append(try bench.direct(requests))
            report.through.append(try await bench.through(requests))
            tell(round)
        }
        return json ? report.json : report.text
    }

    /// Without and with waiting for the service's answer.
    private func inTurn(_ plain: GatewayBench, _ waiting: GatewayBench) async throws -> String {
        var ratios: [Double] = []
        var lines: [String] = []
        for round in 1...rounds {
            let (without, with) = (try await plain.through(requests), try await waiting.through(requests))
            ratios.append(with.acceptedPerSecond / without.acceptedPerSecond)
            for (name, run) in [("accepted", without), ("confirmed", with)] {
                lines.append(
                    "\(name): \(Int(run.acceptedPerSecond)) answers/s, \(Int(run.deliveredPerSecond)) delivered/s, "
                        + "\(String(format: "%.2f", run.cpuMicroseconds)) µs of CPU, "
                        + "\(Int(run.privateMegabytes)) MB private")
            }
            tell(round)
        }
        let median = ratios.sorted()[ratios.count / 2]
        lines.append("answers, waiting to not waiting, median of \(rounds): \(String(format: "%.2f", median))")
        return lines.joined(separator: "\n")
    }

    private func singly(_ bench: GatewayBench) async throws -> String {
        var report = GatewayLatencyReport(command: self)
        for round in 1...rounds {
            report.syncs += try SyncTimes.measure(requests, perSecond: rate, in: bench.directory)
            report.commits += try bench.commits(requests, perSecond: rate)
            report.answers += try await bench.latencies(requests, perSecond: rate)
            tell(round)
        }
        return json ? report.json : report.text
    }

    private func tell(_ round: Int) {
        if !json { FileHandle.standardError.write(Data("round \(round) of \(rounds)\n".utf8)) }
    }
}
