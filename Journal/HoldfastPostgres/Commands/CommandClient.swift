internal import Foundation
internal import Holdfast
package import HoldfastPQ
internal import Synchronization

/// Asks the owner of a journal by way of the database, over a connection of its own. One request at a time.
package final class CommandClient: Sendable {
    package struct Terms: Sendable {
        package var target: PQTarget
        package var schema: SchemaName
        /// The name of the journal.
        package var journal: String
        /// How long an owner may take. Behind that nobody claims the command any more.
        package var patience: Duration
        /// How often is looked for the answer, if no notification comes.
        package var interval: Duration
        /// For connecting, and for each call.
        package var answer: Duration

        package init(
            target: PQTarget, schema: SchemaName = .standard, journal: String, patience: Duration = .seconds(30),
            interval: Duration = .milliseconds(500), answer: Duration = .seconds(5)
        ) {
            self.target = target
            self.schema = schema
            self.journal = journal
            self.patience = patience
            self.interval = interval
            self.answer = answer
        }
    }

    package struct Reply: Sendable {
        /// The host that has answered.
        package let host: String
        package let bytes: [UInt8]
    }

    private let worker: Mutex<CommandClientWorker>
    private let interruption: PQInterruption
    private let queue = DispatchQueue(label: "holdfast.commands")

    /// Connects with the first request.
    ///
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(_ terms: Terms) throws(PQError) {
        interruption = try PQInterruption()
        worker = Mutex(CommandClientWorker(terms, interruption))
    }

    /// - Throws: ``CommandFailure``.
    package func ask(_ request: [UInt8]) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try worker.withLock { try $0.ask(request) } })
            }
        }
    }

    /// Ends a request under way, and takes no more.
    package func close() {
        interruption.interrupt()
        queue.async { [self] in worker.withLock { $0.close() } }
    }
}

/// A command that was not answered. Its description says what is known of it.
package enum CommandFailure: Error, Sendable, CustomStringConvertible {
    /// There is no journal of this name.
    case noJournal(String)
    /// Nobody serves the journal, and nobody is waited for: nothing was done.
    case notServed(ClosedJournal)
    /// Nobody has claimed it, and nobody will: nothing was done.
    case notTaken(journal: String, host: String?, isFree: Bool, patience: Duration)
    /// A host has claimed it and has not answered: it may be done or not.
    case notAnswered(journal: String, host: String, patience: Duration)
    /// The database can't be asked what became of it: it may be done or not.
    case unknown(journal: String, PQError)
    /// The database did not take it: nothing was done.
    case notAsked(journal: String, PQError)

    package var description: String { meaning.map { "\(event): \($0)" } ?? event }

    /// What happened to the request. It says nothing of what becomes of it later.
    package var event: String {
        switch self {
        case .noJournal(let name):
            "the database has no journal \(name): list the journals that it has, and name one of them"
        case .notTaken(let journal, let host, true, let patience):
            "journal \(journal) has no owner\(host.map { " since \($0) gave it up" } ?? ""), and none came within "
                + "\(patience.words)"
        case .notServed(let closed): closed.words
        case .notTaken(let journal, let host, false, let patience):
            "the owner of journal \(journal)\(host.map { ", \($0)," } ?? "") did not take the request within \(patience.words)"
        case .notAnswered(let journal, let host, let patience):
            "\(host), which owns journal \(journal), took the request and did not answer within \(patience.words)"
        case .unknown(let journal, let error):
            "the request for journal \(journal) was given to the database, which then could not be asked for the answer (\(error))"
        case .notAsked(let journal, let error):
            "the owner of journal \(journal) can't be asked, as the database did not take the request: \(error)"
        }
    }

    /// What becomes of the request, and what to do, if it was given to nobody else. nil if ``event`` says it.
    private var meaning: String? {
        switch self {
        case .noJournal, .notServed: nil
        case .notAsked(_, let error): Self.lockAdvice(error)
        case .notTaken(_, _, true, _):
            "the request is withdrawn, so that nobody carries it out later; start a service that may take the journal, and ask "
                + "again"
        case .notTaken(_, _, false, _):
            "the request is withdrawn, so that nobody carries it out later; see whether that host can reach the database, and "
                + "ask again"
        case .unknown(_, let error): Self.doubt + (Self.lockAdvice(error).map { ". \($0)" } ?? "")
        case .notAnswered: Self.doubt
        }
    }

    private static let doubt = "it may be done or not; look before you ask again"

    private static func lockAdvice(_ error: PQError) -> String? { error.cause?.isLock == true ? error.advice : nil }
}

/// The connection of a ``CommandClient``.
struct CommandClientWorker {
    private let terms: CommandClient.Terms
    private let calls: CommandCalls
    private let interruption: PQInterruption
    private var session: ServiceSession

    init(_ terms: CommandClient.Terms, _ interruption: PQInterruption) {
        self.terms = terms
        self.interruption = interruption
        calls = CommandCalls(terms.schema)
        session = ServiceSession(
            terms.target, terms.schema, name: "holdfast operator", interruption, beginning: [calls.listenToAnswers],
            endsFormer: false, lockPatience: LockPatience.command)
    }

    mutating func close() {
        session.close()
    }

    mutating func ask(_ request: [UInt8]) throws(CommandFailure) -> CommandClient.Reply {
        let (id, start) = (UUID(), ContinuousClock.Instant.now)
        let owner = try give(id, request, until: start + terms.patience)
        if owner.isFree, let closed = closedJournal(id) { throw .notServed(closed) }
        // The database's clock began later than this one, and a claim may be on its way.
        let end = ContinuousClock.Instant.now + terms.patience + .milliseconds(200)
        var trouble: PQError?
        while .now < end, !interruption.isInterrupted {
            do throws(PQError) {
                let connection = try connected()
                if let reply = try take(id, connection) { return reply }
                trouble = nil
                _ = try connection.notifications(by: min(end, .now + terms.interval))
            } catch {
                trouble = error
                pause(until: end)
            }
        }
        return try giveUp(id, owner, trouble)
    }

    /// Gives the command to the database, again until it is known to be there.
    private mutating func give(
        _ id: UUID, _ request: [UInt8], until end: ContinuousClock.Instant
    ) throws(CommandFailure) -> (host: String?, isFree: Bool) {
        var isInDoubt = false
        while true {
            do throws(PQError) {
                return try calls.ask(
                    id, journal: terms.journal, request, patience: terms.patience, try connected(),
                    by: .now + terms.answer)
            } catch {
                close()
                if error.sqlState == CommandCalls.noJournalState { throw .noJournal(terms.journal) }
                if error.kind == .inDoubt { isInDoubt = true }
                let mayPass = error.kind == .inDoubt || error.kind == .unreachable
                guard mayPass, .now < end, !interruption.isInterrupted else {
                    throw isInDoubt ? .unknown(journal: terms.journal, error) : .notAsked(journal: terms.journal, error)
                }
                pause(until: end)
            }
        }
    }

    /// The journal, if it was closed and nobody will take the command. Else its next owner is waited for.
    private mutating func closedJournal(_ id: UUID) -> ClosedJournal? {
        do throws(PQError) {
            let connection = try connected()
            let ownership = OwnershipCalls(terms.schema)
            let listed = try ownership.list(connection, by: .now + terms.answer).first { $0.name == terms.journal }
            guard let listed, listed.isUnserved else { return nil }
            let seconds = try ownership.releasesIfAllowed(connection, by: .now + terms.answer)[listed.id]
            let loss = try ownership.lossesIfAllowed(connection, by: .now + terms.answer)[listed.id]
            // Its host may have come back, and have taken the command meanwhile.
            guard try calls.withdraw(id, connection, by: .now + terms.answer) else { return nil }
            return ClosedJournal(listed, seconds: seconds, loss: loss)
        } catch {
            // What keeps this from being known is met again, and told then.
            return nil
        }
    }

    private func take(_ id: UUID, _ connection: PQConnection) throws(PQError) -> CommandClient.Reply? {
        guard let found = try calls.read(id, connection, by: .now + terms.answer), let answer = found.answer else {
            return nil
        }
        // Else it is deleted in a minute.
        do throws(PQError) { try calls.forget(id, connection, by: .now + terms.answer) } catch {}
        return CommandClient.Reply(host: found.host ?? "another host", bytes: answer)
    }

    private mutating func giveUp(
        _ id: UUID, _ owner: (host: String?, isFree: Bool), _ trouble: PQError?
    ) throws(CommandFailure) -> CommandClient.Reply {
        let (journal, patience) = (terms.journal, terms.patience)
        let host: String?
        do throws(PQError) {
            let connection = try connected()
            let isWithdrawn = try calls.withdraw(id, connection, by: .now + terms.answer)
            if !isWithdrawn, let reply = try take(id, connection) { return reply }
            host = isWithdrawn ? nil : try calls.read(id, connection, by: .now + terms.answer)?.host ?? "a host"
        } catch {
            throw .unknown(journal: journal, trouble ?? error)
        }
        guard let host else {
            throw .notTaken(journal: journal, host: owner.host, isFree: owner.isFree, patience: patience)
        }
        throw .notAnswered(journal: journal, host: host, patience: patience)
    }

    private mutating func pause(until end: ContinuousClock.Instant) {
        close()
        let rest = ContinuousClock.Instant.now.duration(to: min(end, .now + .milliseconds(200)))
        Thread.sleep(forTimeInterval: max(0, rest / .seconds(1)))
    }

    private mutating func connected() throws(PQError) -> PQConnection {
        try session.opened(by: .now + terms.answer).0
    }
}
