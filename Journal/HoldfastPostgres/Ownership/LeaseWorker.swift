internal import Holdfast
internal import HoldfastPQ

/// The thread of a lease: seeks a journal, holds it, and gives it up, over a connection of its own.
struct LeaseWorker: ~Copyable {
    private let terms: JournalLease.Terms
    private let calls: OwnershipCalls
    private let board: LeaseBoard
    private var taker: TakerMachine
    private var owned: (epoch: Int64, machine: LeaseMachine)?
    private var isLost = false
    private var session: ServiceSession

    init(_ terms: JournalLease.Terms, _ board: LeaseBoard, _ interruption: PQInterruption) {
        self.terms = terms
        self.board = board
        calls = OwnershipCalls(terms.schema)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast lease of journal \(terms.journal)", interruption,
            lockPatience: LockPatience.repeated)
        taker = TakerMachine(terms.times, formerEpoch: terms.formerEpoch)
        guard let taken = terms.taken else { return }
        let machine = LeaseMachine(takenBySending: taken.sent, terms.times)
        owned = (taken.epoch, machine)
        board.publish(machine, .held(epoch: taken.epoch))
    }

    mutating func run() {
        while !isLost, !board.isUnwanted {
            do throws(DatabaseTrouble) {
                try hold(over: try connected())
                board.tell(nil)
                let due = owned?.machine.nextBeat ?? taker.nextLook(at: now)
                board.rest(max(due - now, .zero))
            } catch {
                board.tell(error)
                session.close()
                taker.sessionEnded()
                board.rest(terms.times.retry)
            }
        }
        let wasReleased = !isLost && !board.isLeft && release()
        session.close()
        board.endThread(isLost ? .lost : wasReleased ? .released : .abandoned)
    }

    private var now: Duration { terms.clock.monotonic() }

    /// For a call that begins now.
    private var deadline: ContinuousClock.Instant { .now + terms.times.answer }

    private mutating func connected() throws(DatabaseTrouble) -> PQConnection {
        do throws(PQError) {
            let (connection, isNew) = try session.opened(by: deadline)
            if isNew { taker.sessionEnded() }
            return connection
        } catch {
            throw DatabaseTrouble(error)
        }
    }

    private mutating func hold(over connection: PQConnection) throws(DatabaseTrouble) {
        do throws(PQError) {
            if owned == nil { try seek(connection) } else { try beat(connection) }
        } catch {
            throw DatabaseTrouble(error)
        }
    }

    private mutating func seek(_ connection: PQConnection) throws(PQError) {
        guard let sighting = try calls.look(at: terms.journal, connection, by: deadline) else {
            throw PQError(.unexpected, "schema \(terms.schema) has no journal \(terms.journal)")
        }
        taker.looked(sighting, at: now)
        if terms.claim > 0 {
            try calls.claim(
                terms.journal, upTo: terms.claim, for: terms.times.takeAfter, connection, by: deadline)
        }
        guard let seen = taker.sightingToTake(at: now) else { return }
        let sent = now
        let epoch = try calls.take(
            terms.journal, seen: seen, host: terms.host, grace: terms.times.takeAfter, claim: terms.claim, connection,
            by: deadline)
        guard let epoch else { return }
        let machine = LeaseMachine(takenBySending: sent, terms.times)
        owned = (epoch, machine)
        board.publish(machine, .held(epoch: epoch))
    }

    private mutating func beat(_ connection: PQConnection) throws(PQError) {
        guard case (let epoch, var machine)? = owned else { return }
        machine.beatSent(at: now)
        do throws(PQError) {
            try calls.beat(terms.journal, epoch: epoch, connection, by: deadline)
            machine.beatAnswered(at: now)
            owned = (epoch, machine)
            board.publish(machine, .held(epoch: epoch))
        } catch {
            guard error.kind == .refused, error.sqlState == OwnershipCalls.lostState else {
                machine.beatFailed(at: now)
                owned = (epoch, machine)
                throw error
            }
            machine.endOwnership()
            isLost = true
            board.publish(machine, .lost)
        }
    }

    /// - Returns: whether the database knows that the journal is free.
    private mutating func release() -> Bool {
        guard let owned else { return false }
        do throws(DatabaseTrouble) {
            let connection = try connected()
            do throws(PQError) {
                try calls.release(
                    terms.journal, epoch: owned.epoch, closing: board.isClosing, connection, by: deadline)
            } catch {
                throw DatabaseTrouble(error)
            }
            return true
        } catch {
            board.tell(error)
            return false
        }
    }
}
