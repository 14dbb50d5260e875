internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// What it costs to remember identities: appends and acknowledgements with and without, to one journal.
struct IdentityBench {
    /// For one entry.
    struct Figures {
        var microseconds: Double
        /// Of the whole process, the making of the submissions apart.
        var cpuMicroseconds: Double
    }

    struct Run {
        var append: Figures
        var acknowledge: Figures
    }

    /// Entries in a submission, and submissions that wait at a time.
    static let batch = 256
    static let depth = 16

    let directory: String
    let count: Int
    let payloadBytes: Int
    let durability: LMDBJournal.Durability

    private static let lane = LaneKey(route: "bench", urgency: .immediate, guarantee: .atLeastOnce)
    private static let now = WallTime(milliseconds: 1_700_000_000_000)

    /// Rounds with and without identities in turn, to a journal that remembers `remembered` before.
    func run(remembered: Int, rounds: Int, name: String) throws -> (with: [Run], without: [Run]) {
        let scratch = try ScratchJournal(name, in: directory, durability: durability)
        defer { scratch.remove() }
        let journal = scratch.journal
        let bench = Session(
            journal: journal, lane: try journal.openLane(Self.lane).id,
            producer: try journal.openProducer("default"), template: template())
        if remembered > 0 { _ = try bench.round(remembered, withIdentities: true) }
        var runs: (with: [Run], without: [Run]) = ([], [])
        for _ in 0..<rounds {
            runs.without.append(try bench.round(count, withIdentities: false))
            // Back to the number that was asked for, oldest first.
            runs.with.append(try bench.round(count, withIdentities: true))
            try bench.trim(to: remembered)
        }
        return runs
    }

    /// One submission's notifications, packed.
    private func template() -> (bytes: [UInt8], ranges: [Range<Int>]) {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        let payload = DeliveryBench.payload(payloadBytes)
        for index in 0..<Self.batch {
            let start = bytes.count
            let notification = PushNotification(
                token: DeliveryBench.token(index), topic: DeliveryBench.topic, payload: payload, pushType: .alert)
            PackedNotification.append(
                notification, id: NotificationID(high: UInt64(index), low: 7), expiration: .at(1_900_000_000),
                acceptedAt: Self.now, producer: "", to: &bytes)
            ranges.append(start..<bytes.count)
        }
        return (bytes, ranges)
    }

    private final class Session {
        private let journal: LMDBJournal
        private let lane: LaneID
        private let producer: ProducerID
        private let bytes: [UInt8]
        private let items: [Submission.Item]
        private var identities = Xoshiro256(seed: 1)
        private let gate = RequestGate(depth: IdentityBench.depth)

        init(
            journal: LMDBJournal, lane: LaneID, producer: ProducerID,
            template: (bytes: [UInt8], ranges: [Range<Int>])
        ) {
            self.journal = journal
            self.lane = lane
            self.producer = producer
            bytes = template.bytes
            items = template.ranges.map { Submission.Item(lane: lane, range: $0) }
        }

        func round(_ count: Int, withIdentities: Bool) throws -> Run {
            let submissions = (count + IdentityBench.batch - 1) / IdentityBench.batch
            let all = (0..<submissions).map { _ in submission(withIdentities) }
            let first = try journal.status().nextUID.rawValue
            let append = try measure(submissions * IdentityBench.batch) {
                for submission in all {
                    gate.enter()
                    journal.append(submission) { [gate] in gate.leave($0.map { _ in }) }
                }
            }
            let end = first + UInt64(submissions * IdentityBench.batch)
            let acknowledge = try measure(submissions * IdentityBench.batch) {
                for start in stride(from: first, to: end, by: 1000) {
                    gate.enter()
                    let keys = (start..<min(start + 1000, end)).map { EntryKey(lane: lane, uid: UID($0)) }
                    journal.settle(SettlementBatch(acknowledging: keys)) { [gate] in gate.leave($0.map { _ in }) }
                }
            }
            return Run(append: append, acknowledge: acknowledge)
        }

        func trim(to remembered: Int) throws {
            gate.enter()
            journal.trim(TrimBounds(greatestIdentities: remembered)) { [gate] in gate.leave($0.map { _ in }) }
            try gate.drain()
        }

        private func submission(_ withIdentities: Bool) -> Submission {
            var submission = Submission(
                producer: producer, acceptedAt: IdentityBench.now, bytes: bytes, items: items)
            guard withIdentities else { return submission }
            submission.identities = items.indices.map { index in
                (index, Identity(high: identities.next(), low: identities.next()))
            }
            return submission
        }

        private func measure(_ count: Int, _ body: () -> Void) throws -> Figures {
            let (cpu, clock) = (ProcessFigures.now(), ContinuousClock.now)
            body()
            try gate.drain()
            let took = ContinuousClock.now - clock
            let spent = ProcessFigures.now().own - cpu.own
            return Figures(
                microseconds: took / .microseconds(1) / Double(count),
                cpuMicroseconds: spent * 1_000_000 / Double(count))
        }
    }
}

extension IdentityBench {
    /// Medians, and what identities cost. The names of its properties are those of the JSON.
    struct Summary: Encodable {
        /// Microseconds for each notification, and of them those of the processor.
        struct Cost: Encodable {
            var microseconds: Double
            var cpuMicroseconds: Double
        }

        struct Part: Encodable {
            var without: Cost
            var with: Cost
        }

        var remembered: Int
        var append: Part
        var acknowledge: Part

        init(remembered: Int, with: [Run], without: [Run]) {
            func cost(_ runs: [Run], _ figures: (Run) -> Figures) -> Cost {
                Cost(
                    microseconds: Quantile.median(runs.map { figures($0).microseconds }),
                    cpuMicroseconds: Quantile.median(runs.map { figures($0).cpuMicroseconds }))
            }
            self.remembered = remembered
            append = Part(without: cost(without, \.append), with: cost(with, \.append))
            acknowledge = Part(without: cost(without, \.acknowledge), with: cost(with, \.acknowledge))
        }

        /// For people.
        func text() -> String {
            func words(_ name: String, _ part: Part) -> String {
                String(
                    format: "%@ %.2f µs, with identities %.2f µs (throughput %.2f); CPU %.2f and %.2f µs", name,
                    part.without.microseconds, part.with.microseconds,
                    part.without.microseconds / part.with.microseconds, part.without.cpuMicroseconds,
                    part.with.cpuMicroseconds)
            }
            return "\(remembered) remembered: " + words("append", append) + "; " + words("acknowledge", acknowledge)
        }
    }
}
