internal import Foundation
internal import Holdfast

/// What the thread of commands, those that carry commands out, and the service tell each other.
final class CommandBoard: Sendable {
    struct Answer: Sendable {
        let id: UUID
        let bytes: [UInt8]
    }

    private struct Served: Sendable {
        let epoch: Int64
        let answerer: CommandServer.Answerer
        let onOrders: CommandServer.OrdersListener?
    }

    private struct State: Sendable {
        var journals: [Int32: Served] = [:]
        var underWay = 0
        var answers: [Answer] = []
        /// The newest that all journals were told of; nil where one was told of none.
        var lastOrder: OrderMark??
        /// Of journals that came.
        var arrivals = 0
        var trouble: String?
        var isStopped = false
        var isThreadOver = false
    }

    private let state = Monitor(State())
    private let tooLate: CommandServer.Answerer

    init(tooLate: @escaping CommandServer.Answerer) { self.tooLate = tooLate }

    var trouble: String? { state.withLock { $0.trouble } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// Commands whose answers the database has not got.
    var openCount: Int { state.withLock { $0.underWay + $0.answers.count } }
    var journals: [(journal: Int32, epoch: Int64)] {
        state.withLock { state in state.journals.map { ($0.key, $0.value.epoch) } }
    }

    func serve(
        _ journal: Int32, _ epoch: Int64, _ answerer: @escaping CommandServer.Answerer,
        _ onOrders: CommandServer.OrdersListener?
    ) {
        state.change { state in
            state.journals[journal] = Served(epoch: epoch, answerer: answerer, onOrders: onOrders)
            // It may know more than was read here.
            state.lastOrder = nil
            state.arrivals += 1
        }
    }

    func end(_ journal: Int32) { state.change { $0.journals[journal] = nil } }
    func tell(_ trouble: String?) { state.change { $0.trouble = trouble } }

    /// What is to be known before orders are read: the newest that all journals were told of, nil where one was told of none;
    /// and how many have come.
    var orders: (last: OrderMark??, arrivals: Int) { state.withLock { ($0.lastOrder, $0.arrivals) } }

    /// Tells journals of orders that were read since so many have come. Who comes later may know more.
    func tell(_ orders: FleetOrders, arrivals: Int) {
        state.change { state in
            guard state.arrivals == arrivals else { return }
            state.lastOrder = .some(orders.last)
            for served in state.journals.values { served.onOrders?(orders) }
        }
    }

    func endThread() { state.change { $0.isThreadOver = true } }

    /// Carries a command out beside the thread.
    ///
    /// - Parameter isLate: whether its deadline may be over.
    func carryOut(_ command: ClaimedCommand, isLate: Bool) {
        // A journal that has left meanwhile has an answerer no more, and another owner.
        let answerer = state.change { state in
            state.underWay += 1
            return isLate ? tooLate : state.journals[command.journal]?.answerer ?? tooLate
        }
        Task.detached { [self] in
            let bytes = await answerer(command.request)
            state.change { state in
                state.underWay -= 1
                state.answers.append(Answer(id: command.id, bytes: bytes))
            }
        }
    }

    var nextAnswer: Answer? { state.withLock { $0.answers.first } }
    /// The database has it, or has no command for it any more.
    func forgetAnswer() { state.change { _ = $0.answers.removeFirst() } }

    /// Rests until there is something to do, or a time is over.
    func rest(_ time: Duration, heeding: Bool) {
        _ = state.wait(atMost: time) { state in
            state.isStopped || heeding && (!state.journals.isEmpty || !state.answers.isEmpty) ? true : nil
        }
    }

    /// - Returns: whether nothing is under way any more, and the thread has seen that.
    func stop(waiting time: Duration) -> Bool {
        let isBusy = state.change { state in
            state.isStopped = true
            return state.underWay + state.answers.count > 0
        }
        guard isBusy else { return false }
        return state.wait(atMost: time) { $0.isThreadOver ? true : nil } ?? false
    }

    func waitForEnd() { _ = state.wait { $0.isThreadOver ? true : nil } }
}
