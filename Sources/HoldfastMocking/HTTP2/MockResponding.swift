internal import NIOCore

/// The part of a mock service over HTTP/2 that is its own, for one connection: requests in; answers and ledger lines out.
///
/// A value, so that all bytes of one read are processed under a single access to it. It writes to no socket, no file and no
/// shared counter before ``publish()``: ``MockConnection`` does, once at the end of each read.
package protocol MockResponding {
    var stage: MockStage { get set }
    /// The ledger lines to be written before the session's output may go out.
    var ledgerLines: [UInt8] { get set }

    /// Takes bytes, split anywhere, and answers the requests in them.
    mutating func receive(_ bytes: Span<UInt8>)

    /// The ledger could not be written.
    mutating func ledgerFailed()

    /// Tells the counts and the exchanges since the last call.
    mutating func publish()
}

/// What the connections of one server share, whichever service it is.
package protocol MockServing: AnyObject, Sendable {
    var isCleartext: Bool { get }
    /// The timeout of the handshake and the client's first SETTINGS; then the connection is closed.
    var handshakeLimit: Duration { get }
    var ledger: Ledger? { get }

    func count(_ event: MockConnectionEvent)
}

/// A thing that happens to a connection, to be counted.
package enum MockConnectionEvent: Sendable {
    case opened
    /// - Parameter neverReady: it has not reached HTTP/2.
    case closed(neverReady: Bool)
    /// Closed or reset at once, as a script wants it.
    case turnedAway
}

/// The departures from normal handling that are in force.
package final class MockOverrides: Sendable {
    private let state: Locked<State>

    private struct State: Sendable {
        var behavior: MockBehavior?
        var script: ScriptRunner?
    }

    package init(behavior: MockBehavior?, script: MockScript?) {
        state = Locked(State(behavior: behavior, script: script.map(ScriptRunner.init)))
    }

    package func set(behavior: MockBehavior?) { state.withLock { $0.behavior = behavior } }

    /// Begins the script anew.
    package func set(script: MockScript?) { state.withLock { $0.script = script.map(ScriptRunner.init) } }

    /// The number of decisions of each step of the script, in the order of the steps.
    package var scriptCounts: [(name: String, count: Int)] { state.withLock { $0.script }?.counts ?? [] }

    /// What is asked about requests; no script where it is about connections only: a request is then not worth a copy.
    package var answers: (behavior: MockBehavior?, script: ScriptRunner?) {
        state.withLock { state in (state.behavior, state.script.flatMap { $0.hasAnswers ? $0 : nil }) }
    }

    /// Decides how a new connection is received.
    ///
    /// - Parameters:
    ///   - tls: nil for cleartext.
    ///   - handler: makes the handler above TLS.
    package func receive<Service: MockServing, Responder: MockResponding>(
        _ number: Int, _ address: MockAddress, _ tls: MockTLSContexts?, for service: Service,
        responder: (MockConnectionPlan) -> Responder
    ) throws -> MockListener.Arrival {
        let plan = state.withLock(\.script)?.plan(forConnection: number, to: address) ?? MockConnectionPlan()
        switch plan.welcome {
        case .normal: break
        case .closed, .reset:
            service.count(.turnedAway)
            if case .reset = plan.welcome { return .reset }
            return .closed
        }
        let wire = MockWire()
        wire.split(every: plan.segmentByteCount)
        wire.pauseReads(for: (plan.reading?.pause).map { TimeAmount($0) })
        let connection = MockConnection(service: service, responder: responder(plan), plan: plan, wire: wire)
        return .received(
            MockListener.Reception(
                tls: try tls?.context(plan.tls), handlers: [wire, connection],
                breaker: tls == nil ? nil : MockTLSBreaker(plan.tls), reading: plan.reading))
    }
}
