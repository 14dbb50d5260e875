internal import Foundation
internal import Holdfast
package import HoldfastPQ

/// Carries out the commands that operators leave in the database for journals of this host, by a thread with a connection of
/// its own.
///
/// A command is claimed in one transaction, by the owner of its journal and before its deadline by the database's clock. One
/// whose claim is answered behind the deadline is not carried out: whoever asked was told that it will not be.
///
/// The same thread looks for orders to the whole fleet.
package final class CommandServer: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        /// The name of this host, for people.
        package var host: String
        /// How often is looked for commands, if no notification comes.
        package var interval: Duration
        /// For connecting, and for each call.
        package var answer: Duration
        /// Commands that are carried out at a time.
        package var greatestCommands: Int

        package init(
            target: PQTarget, schema: SchemaName = .standard, host: String, interval: Duration = .seconds(2),
            answer: Duration = .seconds(5), greatestCommands: Int = 16
        ) {
            self.target = target
            self.schema = schema
            self.host = host
            self.interval = interval
            self.answer = answer
            self.greatestCommands = greatestCommands
        }
    }

    /// Carries a request out and answers it, both as bytes that only both ends understand. It gets the request once.
    package typealias Answerer = @Sendable (_ request: [UInt8]) async -> [UInt8]

    /// Told, on the server's thread, of the fleet's orders: at first, and whenever there are others. A command that was asked
    /// after an order is carried out after its journal was told of the order.
    package typealias OrdersListener = @Sendable (FleetOrders) -> Void

    private let board: CommandBoard
    private let interruption: PQInterruption

    /// Serves no journal yet.
    ///
    /// - Parameter tooLate: answers a command whose claim came too late.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms, tooLate: @escaping Answerer) throws(PQError) {
        let interruption = try PQInterruption()
        let board = CommandBoard(tooLate: tooLate)
        (self.board, self.interruption) = (board, interruption)
        let thread = Thread {
            var worker = CommandWorker(terms, board, interruption)
            worker.run()
        }
        thread.name = "holdfast-commands"
        thread.start()
    }

    /// Serves a journal from now on, in the place of an earlier epoch.
    ///
    /// - Parameter epoch: of this host's ownership. Commands are left to others when it is not the newest.
    package func serve(
        _ journal: Int32, epoch: Int64, onOrders: OrdersListener? = nil, _ answerer: @escaping Answerer
    ) {
        board.serve(journal, epoch, answerer, onOrders)
    }

    /// Claims no more commands of a journal. Those under way go on.
    package func end(_ journal: Int32) { board.end(journal) }

    /// Why no commands are served now; `nil` while they are.
    package var trouble: String? { board.trouble }

    /// Claims nothing more, and waits for the commands under way.
    package func close(within time: Duration = .seconds(2)) {
        if !board.stop(waiting: time) { interruption.interrupt() }
        board.waitForEnd()
    }
}
