internal import Synchronization

/// A session with PostgreSQL. Every call waits at most until its deadline, and ends when its ``PQInterruption`` says so. One that had
/// no answer looks for the reason behind that, where its session wants it (``PQSession/lockPatience``).
///
/// For one thread at a time, which is checked: a second one ends the process. Unchecked by the compiler, because it may be
/// handed from thread to thread between calls.
///
/// A call that ended without its answer closes the connection, since nobody knows what the server does with the rest. No
/// query is ever cancelled: a cancel reaches whatever the session does by then, and that may be a commit.
package final class PQConnection: @unchecked Sendable {
    let handle: PQHandle
    let interruption: PQInterruption
    package private(set) var facts: PQFacts
    /// The names under which statements are prepared in this session, with their texts.
    var prepared: [String: String] = [:]
    private let isInUse = Atomic(false)
    let place: PQPlace
    /// `nil` where nobody wants to know for which lock a call waits.
    private let lockLook: LockLook?
    /// The server, where a book of servers is kept and it says who it is.
    let sight = Mutex<ServerSight?>(nil)
    private let isClosed = Atomic(false)
    /// Nanoseconds of ``start``'s clock.
    private let answered = Atomic(Int64.min)
    private static let start = ContinuousClock.now

    /// Connects, sets the session up, and sees whether the server has taken that.
    ///
    /// - Throws: `refused` when the server does not let this user in, or does not take a setting; `configuration` when the
    ///   string can't be used; else `unreachable` or `interrupted`.
    package convenience init(
        _ target: PQTarget, _ session: PQSession, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption
    ) throws(PQError) {
        try self.init(target, session, by: deadline, interruption, avoiding: [])
    }

    /// - Parameter avoided: places that are passed over, as ``place`` has them.
    init(
        _ target: PQTarget, _ session: PQSession, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption,
        avoiding avoided: Set<PQPlace>
    ) throws(PQError) {
        let patience = Patience(deadline: deadline, interruption: interruption)
        let made = try Connecting(
            target: target, session: session, patience: patience, avoided: avoided
        ).connect()
        handle = made.handle
        place = made.place
        self.interruption = interruption
        lockLook =
            session.lockPatience > .zero
            ? LockLook(target: target, interruption: interruption, patience: session.lockPatience) : nil
        let security = target.security(at: made.place)
        facts = made.handle.facts(made.place, security, isInRecovery: false, settings: [:])
        let (settings, isInRecovery) = try setUp(session, by: deadline)
        facts = made.handle.facts(made.place, security, isInRecovery: isInRecovery, settings: settings)
    }

    /// Whether another call may be made. A loss that nobody has noticed yet is found by the next call, before it sends.
    package var isUsable: Bool { !handle.isBad }

    package var isInTransaction: Bool { !handle.isBad && handle.isInTransaction }

    /// Closes the socket, without waiting for anything. An open transaction is rolled back by the server.
    package func close() {
        enter()
        defer { leave() }
        finish()
    }

    /// The error of a call that is about to be given up, with the lock for which it waits, if there is one.
    func explained(_ error: PQError) -> PQError {
        guard error.cause == .deadline, let holder = lockLook?.holder(keeping: handle.backend, at: place) else {
            return error
        }
        return error.waiting(forLockOf: holder)
    }

    func finish() {
        handle.finish()
        isClosed.store(true, ordering: .relaxed)
    }

    /// Whether it was closed. From any thread.
    var isOver: Bool { isClosed.load(ordering: .relaxed) }

    /// Whether a call was answered lately. From any thread.
    func hasAnswered(within time: Duration) -> Bool {
        let last = answered.load(ordering: .relaxed)
        return last != .min && !isOver && Self.sinceStart - last < time.nanoseconds
    }

    /// The server has answered a call.
    func noteAnswer() { answered.store(Self.sinceStart, ordering: .relaxed) }

    private static var sinceStart: Int64 { start.duration(to: .now).nanoseconds }

    func enter() {
        precondition(!isInUse.exchange(true, ordering: .acquiring), "a connection to PostgreSQL is used by two threads")
    }

    func leave() { isInUse.store(false, ordering: .releasing) }
}

extension PQConnection {
    private func setUp(
        _ session: PQSession, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (settings: [String: String], isInRecovery: Bool) {
        try run([session.step(), PQSession.english], by: deadline)
        var settings: [String: String] = [:]
        for row in try run([PQSession.reading], by: deadline)[0].rows { settings[try row.text(0)] = try row.text(1) }
        let isInRecovery = settings.removeValue(forKey: "recovery") == "true"
        for (name, value) in session.wanted {
            guard let found = settings[name], found != value else { continue }
            finish()
            throw PQError(.unexpected, "the server took \(value) for \(name), and has \(found)")
        }
        guard settings["client_encoding"] == "UTF8" else {
            finish()
            throw PQError(.unexpected, "the session's encoding is not UTF-8")
        }
        return (settings, isInRecovery)
    }
}

extension PQHandle {
    fileprivate func facts(
        _ place: PQPlace, _ security: PQSecurity, isInRecovery: Bool, settings: [String: String]
    ) -> PQFacts {
        PQFacts(
            host: place.host, address: place.address, port: place.port, database: database, user: user,
            serverVersion: serverVersion, backend: backend, isLocal: place.isLocal, security: security,
            encryption: encryption, isInRecovery: isInRecovery, settings: settings)
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
