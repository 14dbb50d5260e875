internal import Foundation
internal import HoldfastPQ

/// The thread of a ``CommandServer``.
struct CommandWorker: ~Copyable {
    private let terms: CommandServer.Terms
    private let calls: CommandCalls
    private let orders: OrderCalls
    private let board: CommandBoard
    private let interruption: PQInterruption
    private var session: ServiceSession

    init(_ terms: CommandServer.Terms, _ board: CommandBoard, _ interruption: PQInterruption) {
        self.terms = terms
        self.board = board
        self.interruption = interruption
        calls = CommandCalls(terms.schema)
        orders = OrderCalls(terms.schema)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast commands", interruption, beginning: [calls.listenToCommands])
    }

    /// Without an answer to wait for, a thread that is to stop ends at once.
    private var isWanted: Bool { !interruption.isInterrupted && (!board.isStopped || board.openCount > 0) }

    mutating func run() {
        let shortest = Duration.milliseconds(50)
        var pause = shortest
        while isWanted {
            if board.journals.isEmpty, board.openCount == 0 {
                board.rest(.seconds(60), heeding: true)
                continue
            }
            do throws(PQError) {
                let connection = try session.opened(by: .now + terms.answer).0
                try sendAnswers(connection)
                try claim(connection)
                board.tell(nil)
                pause = shortest
                // An answer that is made meanwhile does not wake this thread from the wait for a notification.
                let time = board.openCount > 0 ? .milliseconds(20) : terms.interval
                _ = try connection.notifications(by: .now + time)
            } catch {
                session.close()
                if !interruption.isInterrupted { board.tell(error.description) }
                board.rest(pause, heeding: false)
                pause = min(pause * 2, .seconds(2))
            }
        }
        session.close()
        board.endThread()
    }

    private func sendAnswers(_ connection: PQConnection) throws(PQError) {
        while let answer = board.nextAnswer {
            try calls.answer(answer.id, answer.bytes, connection, by: .now + terms.answer)
            board.forgetAnswer()
        }
    }

    private func claim(_ connection: PQConnection) throws(PQError) {
        let (journals, room) = (board.journals, terms.greatestCommands - board.openCount)
        guard !board.isStopped, !journals.isEmpty else { return }
        let sent = ContinuousClock.Instant.now
        let claimed =
            room > 0
            ? try calls.claim(journals, host: terms.host, limit: room, connection, by: sent + terms.answer) : []
        var failure: PQError?
        // Behind the claim: whoever asks may have given an order just before.
        do throws(PQError) { try lookAtOrders(connection) } catch { failure = error }
        // What is claimed is nobody else's any more.
        for command in claimed { board.carryOut(command, isLate: .now >= sent + command.time) }
        if let failure { throw failure }
    }

    private func lookAtOrders(_ connection: PQConnection) throws(PQError) {
        let known = board.orders
        if let told = known.last, try told == orders.last(connection, by: .now + terms.answer) { return }
        board.tell(try orders.read(connection, by: .now + terms.answer), arrivals: known.arrivals)
    }
}
