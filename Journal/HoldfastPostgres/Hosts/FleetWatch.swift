internal import Foundation
internal import Holdfast
package import HoldfastPQ

/// Watches the journals of all hosts on a thread of its own, and takes over those of hosts that are gone.
package final class FleetWatch: Sendable {
    /// A journal that was taken, and has to be opened.
    package struct Taken: Sendable {
        package let journal: ListedJournal
        package let ownership: JournalLease.Taken
    }

    private struct State {
        var mine: Set<Int32>
        var journals: [ListedJournal] = []
        var trouble: String?
        var isUnwanted = false
        var isThreadOver = false
    }

    private let terms: HostTerms
    private let limit: Int
    private let onTaken: @Sendable (Taken) -> Void
    private let onLook: @Sendable (_ journals: [ListedJournal], _ mine: Set<Int32>) -> Void
    private let board: Monitor<State>
    private let interruption: PQInterruption

    /// - Parameters:
    ///   - mine: the journal that this host accepts into.
    ///   - limit: how many journals of others it has at once.
    ///   - onTaken: called on the watch's thread; ``leave(_:)`` follows, sooner or later.
    ///   - onLook: called on the watch's thread with all journals, and the numbers of those that this host has.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(
        _ terms: HostTerms, mine: Int32, limit: Int = 8, onTaken: @escaping @Sendable (Taken) -> Void,
        onLook: @escaping @Sendable (_ journals: [ListedJournal], _ mine: Set<Int32>) -> Void = { _, _ in }
    ) throws(PQError) {
        self.terms = terms
        self.limit = limit
        self.onTaken = onTaken
        self.onLook = onLook
        board = Monitor(State(mine: [mine]))
        interruption = try PQInterruption()
        let thread = Thread { [self] in run() }
        thread.name = "holdfast-fleet"
        thread.start()
    }

    /// All journals as they were at the last look.
    package var journals: [ListedJournal] { board.withLock(\.journals) }

    /// Why the last look failed; `nil` after one that did not.
    package var trouble: String? { board.withLock(\.trouble) }

    /// This host does not have the journal any more.
    package func leave(_ journal: Int32) { board.change { $0.mine.remove(journal) } }

    /// Takes nothing more.
    package func end() {
        board.change { $0.isUnwanted = true }
        interruption.interrupt()
        board.wait(.seconds(60)) { $0.isThreadOver }
    }

    private func run() {
        let calls = OwnershipCalls(terms.schema)
        var machine = TakeoverMachine(terms.times)
        var connection: PQConnection?
        while !board.withLock(\.isUnwanted) {
            do throws(PQError) {
                if connection?.isUsable != true {
                    machine.sessionEnded()
                    connection = try terms.connect("holdfast fleet", interruption)
                }
                if let connection { try look(calls, &machine, connection) }
                board.change { $0.trouble = nil }
            } catch {
                connection?.close()
                connection = nil
                board.change { $0.trouble = $0.isUnwanted ? nil : error.description }
            }
            board.wait(terms.times.beat) { $0.isUnwanted }
        }
        connection?.close()
        board.change { $0.isThreadOver = true }
    }

    private func look(
        _ calls: OwnershipCalls, _ machine: inout TakeoverMachine, _ connection: PQConnection
    ) throws(PQError) {
        let journals = try calls.list(connection, by: deadline)
        let mine = board.withLock(\.mine)
        board.change { $0.journals = journals }
        onLook(journals, mine)
        let now = terms.clock.monotonic()
        for journal in machine.looked(journals, mine: mine, room: limit + 1 - mine.count, at: now) {
            guard !board.withLock(\.isUnwanted) else { return }
            let sent = terms.clock.monotonic()
            let epoch = try calls.take(
                journal.id, seen: journal.sighting, host: terms.host, connection, by: deadline)
            // Another host was faster, or the owner is back.
            guard let epoch else { continue }
            board.change { $0.mine.insert(journal.id) }
            onTaken(Taken(journal: journal, ownership: JournalLease.Taken(epoch: epoch, sent: sent)))
        }
    }

    private var deadline: ContinuousClock.Instant { .now + terms.times.answer }
}
