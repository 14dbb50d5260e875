/// Operators' orders to a running engine.
extension EngineCore {
    /// The Consumer of the route that serves a lane, with the lane's number; nil for one that no route serves.
    func server(of lane: LaneKey) -> (consumer: Consumer, lane: LaneID)? {
        registry.withLock { registry in
            guard let registration = registry.registrations.first(where: { $0.consumer.name == lane.route }),
                let id = registration.lanes[lane]
            else { return nil }
            return (registration.consumer, id)
        }
    }

    /// Lets a stopped or paused lane run again.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func resume(
        _ key: LaneKey, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void = { _ in }
    ) { order(.resume, key, completion) }

    /// Hands out nothing of the lane any more until it is resumed, restarts included.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func pause(
        _ key: LaneKey, reason: String = "",
        completion: @escaping @Sendable (Result<Void, JournalError>) -> Void = { _ in }
    ) { order(.pause(reason), key, completion) }

    /// Has a route try at once whatever it waits for, with its backoffs begun anew.
    ///
    /// - Parameter completion: when the route has begun. It needs turns.
    package func hurry(
        route: String, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void = { _ in }
    ) {
        guard let consumer = consumers.first(where: { $0.name == route }) else {
            return completion(.failure(JournalError(.notFound, "this engine has no route \(route.debugDescription)")))
        }
        if !consumer.post({ $0.hurries.append(completion) }) { completion(.failure(JournalError.engineHasEnded)) }
    }

    private func order(
        _ kind: LaneOrder.Kind, _ key: LaneKey, _ completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        let failure = leave(for: key) { inbox, id in
            inbox.orders.append(LaneOrder(lane: id, kind: kind, completion: completion))
        }
        if let failure { completion(.failure(failure)) }
    }

    /// Puts something into the inbox of a lane's Consumer, and of its successor during a change.
    ///
    /// - Returns: why that was not possible.
    private func leave(for key: LaneKey, _ change: (inout ConsumerInbox, LaneID) -> Void) -> JournalError? {
        var last: Consumer?
        while let (consumer, id) = server(of: key) {
            // It takes nothing any more, and nobody has its place.
            if consumer === last { return JournalError.engineHasEnded }
            if consumer.post({ change(&$0, id) }) { return nil }
            last = consumer
        }
        return JournalError(.notFound, "no route of this engine serves the lane \(key)")
    }

    /// Takes entries of one lane back.
    ///
    /// - Parameter completion: when that is on disk. It needs turns.
    package func withdraw(
        _ uids: [UID], from key: LaneKey,
        completion: @escaping @Sendable (Result<Withdrawal, JournalError>) -> Void
    ) {
        let failure = leave(for: key) { inbox, id in
            inbox.withdrawals.append(WithdrawalOrder(lane: id, uids: uids, completion: completion))
        }
        if let failure { completion(.failure(failure)) }
    }

    /// The time to store in the journal as its last one when an operator writes at `wall`; `nil` while the clock is
    /// distrusted.
    package func timeToRemember(_ wall: WallTime) -> WallTime? { producer.timeToRemember(producer.look(wall)) }

    /// Announces an import of entries, before any of them can be read: see ``LaneStateMachine/beginRestoring()``.
    package func beginRestoring() { for consumer in consumers { consumer.post { $0.restoresBegun += 1 } } }

    /// Ends an import, successful or not. Deferred entries among the imported ones may be due.
    package func endRestoring() {
        for consumer in consumers where !consumer.post({ $0.endRestoring() }) {
            // Another one has its lanes since.
            for successor in consumers where successor.name == consumer.name { successor.post { $0.endRestoring() } }
        }
    }

    /// Makes the connectors read their credentials again, one after the other.
    func reloadCredentials() async -> [CredentialReload] {
        var reloads: [CredentialReload] = []
        for consumer in consumers {
            do {
                try await consumer.connector.reload()
                reloads.append(CredentialReload(route: consumer.name))
            } catch {
                reloads.append(CredentialReload(route: consumer.name, failure: "\(error)"))
            }
        }
        return reloads
    }

    /// Asks for proof of what is unconfirmed on connections on which only errors are answered.
    package func writeBarriers() { for consumer in consumers { consumer.post { $0.barrierAsked = true } } }
}
