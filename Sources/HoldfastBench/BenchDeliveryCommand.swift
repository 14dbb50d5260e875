internal import ArgumentParser
internal import Foundation
internal import HoldfastJournal

struct BenchDeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Deliver a backlog over one connection, beside h2load.",
        discussion: """
            Journals COUNT notifications, then delivers them over TLS and HTTP/2 to a mock on this machine: blacklist, \
            journal, request, answer, durable settlement. h2load (Debian: nghttp2-client), where it is installed, sends as \
            many requests to the same mock in turn with us, and keeps nothing. With --binary the same is delivered over \
            the binary protocol, too, to a mock of its own, and confirmed by barriers. With --history the same is \
            delivered by an engine that keeps no history, too, with --sealed from a journal that is sealed, with --fcm \
            to the mock of Firebase Cloud Messaging, over one connection as well; that mock reads no message (`--unread`), since \
            it would be what is measured. Machines differ and are noisy: the ratio of \
            one run is what counts, not the figures.

            Example:
              holdfast-bench delivery --count 100000 --rounds 3
            """)

    @Option(help: "Notifications in a round.") var count = 300_000
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(help: "Concurrent streams.") var streams = 1000
    @Option(help: "Bytes of payload, 20 to 4096.") var payload = 200
    @Option(help: "Entries in flight, from hand-out to durable settlement.") var window = 2000
    @Flag(help: "Deliver over the binary protocol, too.") var binary = false
    @Option(help: "Connections of the binary protocol.") var connections = 1
    @Option(help: "Entries in flight on each connection of the binary protocol.") var cumulativeWindow = 1_000_000
    @Flag(help: "Deliver without a history, too: the ratio is what it costs.") var history = false
    @Flag(help: "Deliver from a sealed journal, too: the ratio is what it costs.") var sealed = false
    @Flag(help: "Deliver to Firebase Cloud Messaging, too: the ratio is that to Apple's.") var fcm = false
    @Flag(help: "Without syncs: survives the process, not a power cut.") var noSync = false
    @Option(
        help: """
            Deliver to the `holdfast mock http2` that is listening at this port, and do nothing else: for tools that count \
            this program's instructions and do not follow its children.
            """) var mock: Int?
    @Option(help: "With --mock: its certificate directory.") var certificates: String?
    @OptionGroup var scratch: ScratchOptions
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        guard count > 0, rounds > 0, (1...1_000_000).contains(streams), (20...4096).contains(payload), window > 0,
            connections > 0, cumulativeWindow > 0
        else {
            throw ValidationError(
                "--count, --rounds, --streams, --payload, --window, --connections or --cumulative-window is out of range"
            )
        }
        guard (mock == nil) == (certificates == nil), mock == nil || !(binary || fcm) else {
            throw ValidationError("--mock and --certificates go together, and without --binary and --fcm")
        }
        guard !binary || payload <= 2048 else {
            throw ValidationError("the binary protocol takes 2048 bytes of payload")
        }
    }

    func run() async throws {
        let directory = try scratch.make()
        defer { directory.remove() }
        let certificates = certificates ?? "\(directory.path)/certificates"
        var own: MockProcess?
        defer { own?.stop() }
        let port: Int
        if let mock {
            port = mock
        } else {
            let started = try MockProcess(["http2", "--streams", "\(streams)"], certificateDirectory: certificates)
            (own, port) = (started, started.port)
        }
        let gateway = binary ? try MockProcess(["binary"], certificateDirectory: certificates) : nil
        defer { gateway?.stop() }
        let google =
            fcm
            ? try MockProcess(["fcm", "--streams", "\(streams)", "--unread"], certificateDirectory: certificates) : nil
        defer { google?.stop() }
        let bench = DeliveryBench(
            count: count, payloadBytes: payload, directory: directory.path, certificates: certificates,
            durability: noSync ? .process : .full)
        let bodyFile = "\(directory.path)/body"
        try Data(bench.payload).write(to: URL(fileURLWithPath: bodyFile))

        let yardstick = own == nil ? nil : Yardstick.find()
        var ours: [DeliveryBench.Run] = []
        var theirs: [Yardstick.Run] = []
        var legacy: [DeliveryBench.Run] = []
        var forgetful: [DeliveryBench.Run] = []
        var sealedOnes: [DeliveryBench.Run] = []
        var googles: [DeliveryBench.Run] = []
        for round in 1...rounds {
            if let yardstick { theirs.append(try measure(yardstick, port, bodyFile)) }
            ours.append(try await bench.run(.http2(port: port, streams: streams, window: window)))
            if history {
                let way = DeliveryBench.Way.http2(port: port, streams: streams, window: window)
                forgetful.append(try await bench.run(way, keepsHistory: false))
            }
            if sealed {
                let way = DeliveryBench.Way.http2(port: port, streams: streams, window: window)
                sealedOnes.append(try await bench.run(way, isSealed: true))
            }
            if let google {
                googles.append(try await bench.run(.fcm(port: google.port, streams: streams, window: window)))
            }
            if let gateway {
                let way = DeliveryBench.Way.binary(
                    port: gateway.port, connections: connections, window: cumulativeWindow)
                legacy.append(try await bench.run(way))
            }
            if !json { FileHandle.standardError.write(Data("round \(round) of \(rounds)\n".utf8)) }
        }
        let report = DeliveryReport(
            command: self, ours: ours, theirs: theirs, legacy: legacy, forgetful: forgetful, sealed: sealedOnes,
            google: googles)
        print(json ? report.json : report.text)
    }

    private func measure(_ yardstick: Yardstick, _ port: Int, _ bodyFile: String) throws -> Yardstick.Run {
        // As long as a provider token, which the mock does not look at here.
        let bearer = "authorization: bearer " + String(repeating: "x", count: 180)
        return try yardstick.run(
            count: count, streams: streams,
            headers: [
                "apns-topic: \(DeliveryBench.topic)", "apns-push-type: alert", "apns-expiration: 1900000000",
                "apns-id: 123e4567-e89b-12d3-a456-4266554400a0", bearer,
            ], bodyFile: bodyFile,
            url: "https://127.0.0.1:\(port)/3/device/" + String(repeating: "5a", count: 32))
    }
}

/// The medians of all rounds, for people and for scripts.
struct DeliveryReport {
    let command: BenchDeliveryCommand
    let ours: [DeliveryBench.Run]
    let theirs: [Yardstick.Run]
    /// Ours over the binary protocol; empty when that was not asked for.
    let legacy: [DeliveryBench.Run]
    /// Ours without a history; empty when that was not asked for.
    let forgetful: [DeliveryBench.Run]
    /// Ours from a sealed journal; empty when that was not asked for.
    let sealed: [DeliveryBench.Run]
    /// Ours to Firebase Cloud Messaging; empty when that was not asked for.
    let google: [DeliveryBench.Run]

    private var delivered: Double { Quantile.median(ours.map(\.deliveredPerSecond)) }
    private var deliveredLegacy: Double { Quantile.median(legacy.map(\.deliveredPerSecond)) }
    private var deliveredForgetful: Double { Quantile.median(forgetful.map(\.deliveredPerSecond)) }
    private var deliveredSealed: Double { Quantile.median(sealed.map(\.deliveredPerSecond)) }
    private var deliveredGoogle: Double { Quantile.median(google.map(\.deliveredPerSecond)) }
    private var yardstick: Double { Quantile.median(theirs.map(\.perSecond)) }

    var text: String {
        func thousands(_ value: Double) -> String { String(format: "%.0f k/s", value / 1000) }
        var lines = [
            "\(command.count) notifications, \(command.streams) streams, payload \(command.payload) bytes, window "
                + "\(command.window), \(command.noSync ? "no sync" : "full sync"), median of \(command.rounds)",
            "holdfast, delivered and durably settled  \(thousands(delivered)), "
                + String(
                    format: "%.2f µs CPU each, %.0f MB private", Quantile.median(ours.map(\.cpuMicroseconds)),
                    Quantile.median(ours.map(\.privateMegabytes))),
            "holdfast, durably submitted              \(thousands(Quantile.median(ours.map(\.submittedPerSecond))))",
        ]
        if theirs.isEmpty, command.mock == nil {
            lines.append("h2load is not installed (Debian: nghttp2-client), so there is no yardstick")
        } else if !theirs.isEmpty {
            lines.append(
                "h2load, which keeps nothing              \(thousands(yardstick)), "
                    + String(format: "%.2f µs CPU each", Quantile.median(theirs.map(\.cpuMicroseconds))))
            lines.append(String(format: "ratio                                    %.2f", delivered / yardstick))
        }
        if !forgetful.isEmpty {
            lines.append(
                "holdfast, without a history              \(thousands(deliveredForgetful)), "
                    + String(format: "%.2f µs CPU each", Quantile.median(forgetful.map(\.cpuMicroseconds))))
            lines.append(
                String(format: "ratio with a history to without          %.2f", delivered / deliveredForgetful))
        }
        if !sealed.isEmpty {
            lines.append(
                "holdfast, from a sealed journal          \(thousands(deliveredSealed)), "
                    + String(format: "%.2f µs CPU each; ", Quantile.median(sealed.map(\.cpuMicroseconds)))
                    + "submitted \(thousands(Quantile.median(sealed.map(\.submittedPerSecond))))")
            lines.append(String(format: "ratio sealed to not sealed               %.2f", deliveredSealed / delivered))
        }
        if !google.isEmpty {
            lines.append(
                "holdfast, to Firebase Cloud Messaging    \(thousands(deliveredGoogle)), "
                    + String(format: "%.2f µs CPU each", Quantile.median(google.map(\.cpuMicroseconds))))
            lines.append(String(format: "ratio to Apple's                         %.2f", deliveredGoogle / delivered))
        }
        if !legacy.isEmpty {
            lines.append(
                "holdfast, binary protocol                \(thousands(deliveredLegacy)), "
                    + String(
                        format: "%.2f µs CPU each, %.0f MB private; ", Quantile.median(legacy.map(\.cpuMicroseconds)),
                        Quantile.median(legacy.map(\.privateMegabytes)))
                    + "confirmed by barriers, \(command.connections) connection(s), window \(command.cumulativeWindow)")
            lines.append(String(format: "ratio to HTTP/2                          %.2f", deliveredLegacy / delivered))
        }
        return lines.joined(separator: "\n")
    }

    var json: String {
        var fields: [(String, Double)] = [
            ("count", Double(command.count)), ("streams", Double(command.streams)),
            ("payload", Double(command.payload)),
            ("window", Double(command.window)), ("rounds", Double(command.rounds)), ("deliveredPerSecond", delivered),
            ("submittedPerSecond", Quantile.median(ours.map(\.submittedPerSecond))),
            ("cpuMicroseconds", Quantile.median(ours.map(\.cpuMicroseconds))),
            ("privateMegabytes", Quantile.median(ours.map(\.privateMegabytes))),
        ]
        if !theirs.isEmpty {
            fields.append(("h2loadPerSecond", yardstick))
            fields.append(("h2loadCPUMicroseconds", Quantile.median(theirs.map(\.cpuMicroseconds))))
            fields.append(("ratio", delivered / yardstick))
        }
        if !forgetful.isEmpty {
            fields.append(("withoutHistoryPerSecond", deliveredForgetful))
            fields.append(("withoutHistoryCPUMicroseconds", Quantile.median(forgetful.map(\.cpuMicroseconds))))
            fields.append(("historyRatio", delivered / deliveredForgetful))
        }
        if !sealed.isEmpty {
            fields.append(("sealedPerSecond", deliveredSealed))
            fields.append(("sealedSubmittedPerSecond", Quantile.median(sealed.map(\.submittedPerSecond))))
            fields.append(("sealedCPUMicroseconds", Quantile.median(sealed.map(\.cpuMicroseconds))))
            fields.append(("sealedRatio", deliveredSealed / delivered))
        }
        if !google.isEmpty {
            fields.append(("fcmPerSecond", deliveredGoogle))
            fields.append(("fcmCPUMicroseconds", Quantile.median(google.map(\.cpuMicroseconds))))
            fields.append(("fcmRatio", deliveredGoogle / delivered))
        }
        if !legacy.isEmpty {
            fields.append(("binaryPerSecond", deliveredLegacy))
            fields.append(("binaryCPUMicroseconds", Quantile.median(legacy.map(\.cpuMicroseconds))))
            fields.append(("binaryRatio", deliveredLegacy / delivered))
        }
        return JSONFigures.object(fields, fullSync: !command.noSync)
    }
}
