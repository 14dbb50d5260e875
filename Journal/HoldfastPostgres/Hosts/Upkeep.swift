internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPQ
internal import HoldfastPlatform

/// Looks after an open journal on a thread of its own: ends its gate once the lease is lost, writes back what the database has lost,
/// and makes checkpoints.
final class Upkeep: Sendable {
    private struct State {
        var isUnwanted = false
        var isThreadOver = true
        var isClosed = false
        var isLacking = false
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
    private let mender: LogMender
    private let interruption: PQInterruption
    private let board = Monitor(State())

    init(
        _ terms: HostTerms, _ mender: LogMender, _ lease: JournalLease, _ gate: PostgresGate
    ) throws(PQError) {
        self.mender = mender
        self.terms = terms
        (journal, epoch, stamp) = (mender.place.id, mender.epoch, mender.stamp)
        self.lease = lease
        self.gate = gate
        interruption = try PQInterruption()
    }

    /// Why the last checkpoint was not made, or nothing was written back yet; `nil` while nothing is missing.
    var trouble: String? { board.withLock(\.trouble) }

    func start(_ opened: LMDBJournal) {
        board.change { $0.isThreadOver = false }
        gate.whenLacking { [board] in board.change { $0.isLacking = true } }
        let thread = Thread { [self, weak opened] in
            var session = ServiceSession(
                terms.target, terms.schema, name: "holdfast checkpoints of journal \(journal)", interruption)
            var nextLook = Condition.now + terms.upkeep
            var nextSight = Condition.now
            var sight = Sight()
            var mender = mender
            while !board.withLock(\.isUnwanted) {
                board.wait(min(Self.tick, terms.upkeep)) { $0.isUnwanted || $0.isLacking }
                board.withLock { $0.isLacking = false }
                if lease.phase == .lost { gate.stop() }
                guard gate.status.ending == nil, let opened else { continue }
                guard !gate.isLacking else {
                    mend(opened, &mender, sight, &session)
                    continue
                }
                if Condition.now >= nextSight {
                    nextSight = Condition.now + terms.times.beat
                    compare(&sight, &session)
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

    /// What was seen of the database.
    private struct Sight {
        /// As of which the log was compared.
        var incarnation: String?
        /// How often the lease had run out when the database was seen to be the same as before. Since the journal was taken, nobody
        /// else can have it before the lease runs out.
        var lapses = 0
    }

    /// Compares the log with what was kept, at once when the database is another than before.
    private func compare(_ seen: inout Sight, _ session: inout ServiceSession) {
        do throws(PQError) {
            let open = try session.opened(by: .now + terms.connecting).0
            let calls = FleetCalls(terms.schema)
            let lapses = lease.lapses
            let present = try calls.look(open, by: .now + terms.answer).incarnation
            guard present != seen.incarnation else {
                seen.lapses = lapses
                return
            }
            let kept = gate.status.last
            let log = try LogCalls(terms.schema, journal: journal).state(open, by: .now + terms.answer)
            gate.sawLog(endingAt: log.last, kept: kept)
            guard log.last >= kept else { return }
            try calls.hear(journal, stamp: stamp, incarnation: present, open, by: .now + terms.answer)
            // The database may have lost that, too.
            try OwnershipCalls(terms.schema).accept(into: journal, epoch: epoch, open, by: .now + terms.answer)
            seen.incarnation = present
        } catch {
            session.close()
            board.change { $0.trouble = $0.isUnwanted ? nil : error.description }
        }
    }

    /// Writes back what the database has lost, or ends the gate where that is not this owner's to do.
    private func mend(
        _ opened: LMDBJournal, _ mender: inout LogMender, _ seen: Sight, _ session: inout ServiceSession
    ) {
        let trouble: String?
        do {
            let open = try session.opened(by: .now + terms.connecting).0
            let isHeld = lease.handOutUntil.map { $0 > terms.clock.monotonic() } ?? false
            let isUnbroken = isHeld && seen.lapses == lease.lapses
            switch try mender.mend(opened, isUnbroken: isUnbroken, over: open) {
            case .mended: trouble = nil
            case .later(let why): trouble = why
            case .contradicted:
                gate.end(.contradicted)
                trouble = nil
            }
        } catch let error as PQError where error.sqlState == OwnershipCalls.lostState {
            gate.end(.ownershipLost)
            trouble = nil
        } catch {
            if !(error is Checkpointer.Failure) { session.close() }
            trouble = "\(error)"
        }
        board.change { $0.trouble = $0.isUnwanted ? nil : trouble }
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
