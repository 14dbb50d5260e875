internal import HoldfastLMDB
internal import HoldfastPQ

/// Sends the commits of a gate, on the thread of whoever commits.
struct GateWorker {
    enum Outcome {
        case kept(UInt64)
        /// Others have these identities.
        case claimed([CommitClaim])
        case notKept
        case rowsGone
        case undetermined
    }

    private let terms: PostgresGate.Terms
    private let calls: LogCalls
    private let board: GateBoard
    private var last: UInt64
    private var session: ServiceSession

    init(_ terms: PostgresGate.Terms, _ board: GateBoard, _ interruption: PQInterruption, after last: UInt64) {
        self.terms = terms
        self.board = board
        self.last = last
        board.kept(last)
        calls = LogCalls(terms.schema, journal: terms.journal)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast log of journal \(terms.journal)", interruption)
    }

    mutating func keep(_ effects: [UInt8], taking rows: [Int64], claiming claims: [CommitClaim]) -> Outcome {
        guard board.status.ending == nil else { return .notKept }
        let (number, parts) = (last + 1, LogParts.split(effects))
        var machine = GateMachine(isMended: terms.isMended)
        board.begin(number)
        defer { board.finish() }
        while true {
            let step: GateMachine.Step
            board.waitForMending()
            if board.isStopped {
                step = machine.stopped()
            } else if let ending = board.status.ending {
                step = machine.ended(ending)
            } else {
                switch send(number, parts, taking: rows, claiming: claims) {
                case .success([]):
                    last = number
                    board.kept(number)
                    return .kept(number)
                case .success(let others): return .claimed(others)
                case .failure(let failure): step = machine.failed(failure, isStopped: board.isStopped)
                }
            }
            switch step {
            case .sendAgain(let pause): board.rest(pause)
            case .waitForMending: board.setLacking(true)
            case .rowsGone: return .rowsGone
            case .notKept(let ending):
                board.end(ending)
                return .notKept
            case .undetermined(let ending):
                board.end(ending)
                return .undetermined
            }
        }
    }

    /// - Returns: the identities that others have; none when the commit is kept.
    private mutating func send(
        _ number: UInt64, _ parts: [[UInt8]], taking rows: [Int64], claiming claims: [CommitClaim]
    ) -> Result<[CommitClaim], GateMachine.Failure> {
        var isSent = false
        do throws(PQError) {
            let connection = try connected()
            isSent = true
            // A long commit over a slow line needs its time, or no try of it would ever be answered.
            let transfer = Duration.milliseconds(parts.count * 30)
            return .success(
                try calls.keep(
                    number, parts, taking: rows, claiming: claims, epoch: terms.epoch, connection,
                    by: .now + terms.answer + transfer))
        } catch {
            let failure = isSent ? GateMachine.Failure(error) : .withoutEffect
            // Nothing is amiss: the next try finds what the other commit has.
            if failure == .refused(sqlState: LogRefusal.claimedMeanwhile) { return .failure(failure) }
            session.close()
            board.tell(DatabaseTrouble(error))
            return .failure(failure)
        }
    }

    mutating func disconnect() { session.close() }

    private mutating func connected() throws(PQError) -> PQConnection {
        try session.opened(by: .now + terms.connecting).0
    }
}
