internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastLegacyAPNs
internal import NIOCore
internal import Trials

struct BenchCodecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codec",
        abstract: "The binary protocol's codec and window, on one core and without a network.",
        discussion: """
            Packed notifications, a thousand at a time, go through what a connection does with them: they are entered into \
            the window of what is unconfirmed, get their identifiers, are written as frames, and are confirmed by the answer \
            to a barrier at every 500,000. Then the frames are read as a server reads them. Reported is processor time.

            Example:
              holdfast-bench codec --payload 100
            """)

    @Option(help: "Notifications in a round.") var count = 5_000_000
    @Option(help: "Rounds; the medians are reported.") var rounds = 3
    @Option(help: "Bytes of payload, 20 to 2048.") var payload = 200
    @Flag(help: "Print one JSON object.") var json = false

    func validate() throws {
        guard count > 0, rounds > 0, (20...2048).contains(payload) else {
            throw ValidationError("--count, --rounds or --payload is out of range")
        }
    }

    func run() throws {
        let bench = try CodecBench(payloadBytes: payload)
        var runs: [CodecBench.Run] = []
        for _ in 0..<rounds { runs.append(try bench.run(count)) }
        let summary = Summary(
            count: count, payloadBytes: payload, rounds: rounds,
            writtenMicroseconds: Quantile.median(runs.map(\.written)),
            readMicroseconds: Quantile.median(runs.map(\.read)))
        if json { return try SummaryLine(summary).show() }
        print(summary.text())
    }

    /// Medians, for each notification. The names of its properties are those of the JSON.
    private struct Summary: Encodable {
        var count: Int
        var payloadBytes: Int
        var rounds: Int
        var writtenMicroseconds: Double
        var readMicroseconds: Double

        func text() -> String {
            func line(_ what: String, _ cost: Double) -> String {
                what + String(format: "%.3f µs CPU each, %.2f million/s on one core", cost, 1 / cost)
            }
            return [
                "\(count) notifications, payload \(payloadBytes) bytes, median of \(rounds)",
                line("window and frames written   ", writtenMicroseconds),
                line("frames read, as by a server ", readMicroseconds),
            ].joined(separator: "\n")
        }
    }
}

/// The way of a notification through a connection of the binary protocol, but for the connection.
struct CodecBench {
    /// Microseconds of processor time for each.
    struct Run {
        let written: Double
        let read: Double
    }

    private static let batch = 1000
    private static let barrierEvery = 500_000
    /// What a connection gathers for a write.
    private static let writeSize = 64 << 10

    private let entries: EntryBatch
    private let acceptedAt = WallTime(milliseconds: 1_700_000_000_000)

    init(payloadBytes: Int) throws {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        let payload = DeliveryBench.payload(payloadBytes)
        for number in 0..<Self.batch {
            let start = bytes.count
            PackedNotification.append(
                PushNotification(
                    token: DeliveryBench.token(number), topic: DeliveryBench.topic, payload: payload, pushType: .alert),
                id: NotificationID(high: 1, low: UInt64(number)), expiration: .at(1_900_000_000),
                acceptedAt: acceptedAt, producer: "default", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(UInt64(number)), attempts: 0, range: start..<bytes.count))
        }
        entries = EntryBatch(bytes: bytes, items: items)
    }

    func run(_ count: Int) throws -> Run {
        var sample = ByteBuffer()
        let start = ProcessFigures.now()
        var done = 0
        while done < count {
            let wanted = min(Self.barrierEvery, count - done)
            try connection(wanted, from: done, sample: &sample)
            done += wanted
        }
        let written = ProcessFigures.now()
        let read = try self.read(sample, atLeast: count)
        let end = ProcessFigures.now()
        return Run(
            written: (written.own - start.own) * 1_000_000 / Double(count),
            read: (end.own - written.own) * 1_000_000 / Double(read))
    }

    /// One connection's life, up to its barrier.
    private func connection(_ count: Int, from first: Int, sample: inout ByteBuffer) throws {
        var window = CumulativeWindow()
        var session = BinaryClientSession()
        var buffer = ByteBuffer()
        var done = 0
        while done < count {
            var tickets: [Ticket] = []
            tickets.reserveCapacity(Self.batch)
            for index in 0..<Self.batch {
                let flight = SentWindow.Flight(
                    lane: 0, uid: UID(UInt64(first + done + index + 1)), attempts: 0, possiblySentBefore: false,
                    hasOneAttempt: false, acceptedAt: acceptedAt)
                tickets.append(window.handOut(flight))
            }
            session.append([HandOut(entries: entries, tickets: tickets)])
            done += Self.batch
            if done >= count { session.writeBarrier() }
            while session.hasOutput {
                if sample.readableBytes == 0 { sample = buffer }
                buffer.clear(minimumCapacity: Self.writeSize + 4096)
                session.write(to: &buffer, limit: Self.writeSize)
            }
        }
        var answer: [UInt8] = []
        ErrorResponse(status: .missingToken, identifier: 0).append(to: &answer)
        guard case .barrierAnswered(let position)? = try session.receive(answer.span)?.conclusion else {
            throw BenchFailure("the barrier proved nothing")
        }
        let confirmed = window.confirm(through: position).reduce(0) { $0 + $1.count }
        guard confirmed == done, window.count == done else { throw BenchFailure("\(confirmed) of \(done) confirmed") }
    }

    /// - Returns: how many were read.
    private func read(_ sample: ByteBuffer, atLeast count: Int) throws -> Int {
        var reader = BinaryRequestReader()
        var read = 0
        while read < count {
            reader.append(sample.readableBytesUInt8Span)
            while let request = try reader.next() {
                guard request.identifier != nil else { throw BenchFailure("a frame without an identifier") }
                read += 1
            }
        }
        return read
    }
}
