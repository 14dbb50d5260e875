internal import Synchronization

/// A session with PostgreSQL. Every call waits at most until its deadline, and ends when its ``PQInterruption`` says so.
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

    /// Connects, sets the session up, and sees whether the server has taken that.
    ///
    /// - Throws: `refused` when the server does not let this user in, or does not take a setting; `configuration` when the
    ///   string can't be used; else `unreachable` or `interrupted`.
    package init(
        _ target: PQTarget, _ session: PQSession, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption
    ) throws(PQError) {
        let patience = Patience(deadline: deadline, interruption: interruption)
        let made = try Connecting(
            target: target, applicationName: session.applicationName, patience: patience
        ).connect()
        handle = made.handle
        self.interruption = interruption
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
        handle.finish()
    }

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
            handle.finish()
            throw PQError(.unexpected, "the server took \(value) for \(name), and has \(found)")
        }
        guard settings["client_encoding"] == "UTF8" else {
            handle.finish()
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
