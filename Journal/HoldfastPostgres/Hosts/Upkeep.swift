internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPlatform

/// Looks after an open journal on a thread of its own: ends its gate once the lease is lost, and makes checkpoints.
final class Upkeep: Sendable {
    private struct State {
        var isUnwanted = false
        var isThreadOver = true
        var isClosed = false
        var trouble: String?
    }

    private static let tick = Duration.seconds(1)

    private let terms: HostTerms
    private let journal: Int32
    private let epoch: Int64
    /// Of this ownership.
    private let stamp: String
    private let lease: JournalLease
    private let gate: PostgresGate
    private let interruption: PQInterruption
    private let board = Monitor(State())

    init(
        _ terms: HostTerms, journal: Int32, epoch: Int64, stamp: String, _ lease: JournalLease, _ gate: PostgresGate
    ) throws(PQError) {
        self.terms = terms
        self.journal = journal
        self.epoch = epoch
        self.stamp = stamp
        self.lease = lease
        self.gate = gate
        interruption = try PQInterruption()
    }

    /// Why the last checkpoint was not made; `nil` while none is missing.
    var trouble: String? { board.withLock(\.trouble) }

    func start(_ opened: LMDBJournal) {
        board.change { $0.isThreadOver = false }
        let thread = Thread { [self, weak opened] in
            var session = ServiceSession(
                terms.target, terms.schema, name: "holdfast checkpoints of journal \(journal)", interruption)
            var nextLook = Condition.now + terms.upkeep
            var nextSight = Condition.now
            // As of which the log was compared.
            var incarnation: String?
            while !board.withLock(\.isUnwanted) {
                board.wait(min(Self.tick, terms.upkeep)) { $0.isUnwanted }
                if lease.phase == .lost { gate.stop() }
                guard gate.status.ending == nil, let opened else { continue }
                if Condition.now >= nextSight {
                    nextSight = Condition.now + terms.times.beat
                    compare(&incarnation, &session)
                }
                guard Condition.now >= nextLook, gate.status.ending == nil else { continue }
                nextLook = Condition.now + terms.upkeep
                look(at: opened, &session)
            }
            session.close()
            board.change { $0.isThreadOver = true }
        }
        thread.name = "holdfast-upkeep"
        thread.start()
    }

    /// Makes no more checkpoints. One under way is given up.
    func end() {
        board.change { $0.isUnwanted = true }
        interruption.interrupt()
        board.wait(.seconds(60)) { $0.isThreadOver }
    }

    func closed() { board.change { $0.isClosed = true } }

    /// - Returns: whether the journal was closed in time.
    func waitForClosing(_ time: Duration) -> Bool { board.wait(time) { $0.isClosed } }

    /// Compares the log with what was kept, at once when the database is another than before.
    private func compare(_ seen: inout String?, _ session: inout ServiceSession) {
        do throws(PQError) {
            let open = try session.opened(by: .now + terms.connecting).0
            let calls = FleetCalls(terms.schema)
            let present = try calls.look(open, by: .now + terms.answer).incarnation
            guard present != seen else { return }
            let kept = gate.status.last
            let log = try LogCalls(terms.schema, journal: journal).state(open, by: .now + terms.answer)
            gate.sawLog(endingAt: log.last, kept: kept)
            guard log.last >= kept else { return }
            try calls.hear(journal, stamp: stamp, incarnation: present, open, by: .now + terms.answer)
            seen = present
        } catch {
            session.close()
            board.change { $0.trouble = $0.isUnwanted ? nil : error.description }
        }
    }

    private func look(at opened: LMDBJournal, _ session: inout ServiceSession) {
        do {
            let open = try session.opened(by: .now + terms.connecting).0
            let calls = LogCalls(terms.schema, journal: journal)
            let kept = gate.status.last
            let log = try calls.state(open, by: .now + terms.answer)
            gate.sawLog(endingAt: log.last, kept: kept)
            guard log.last >= kept else { return }
            let checkpointer = Checkpointer(terms.schema, journal: journal, epoch: epoch, answer: terms.answer)
            if CheckpointRule.isDue(log, journalByteCount: max(log.checkpointByteCount, opened.usedBytes)) {
                _ = try checkpointer.make(of: opened.entriesEnvironment, over: open)
            } else if !log.isTrimmed, log.checkpoint > 0 {
                _ = try checkpointer.trim(over: open)
            }
            board.change { $0.trouble = nil }
        } catch {
            // A failure leaves the session as it was, or lost.
            if !(error is Checkpointer.Failure) { session.close() }
            let words = "\(error)"
            board.change { $0.trouble = $0.isUnwanted ? nil : words }
        }
    }
}
