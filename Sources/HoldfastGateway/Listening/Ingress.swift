internal import Holdfast

/// One protocol at one address, while it listens.
protocol Ingress: Sendable {
    /// `http2`, `binary` or `feedback`: in logs and metrics.
    var name: String { get }
    var listener: Listener { get }
    var figures: IngressFigures { get }
    /// What goes on when its connections are gone; nil for nothing that anybody waits for.
    var unfinished: UnfinishedWork? { get }

    /// Reads what another configuration says: files that have changed, and limits. Its address stays what it is.
    ///
    /// - Returns: what takes it up; open connections go on.
    /// - Throws: ``GatewayError`` that names what is wrong.
    func reloading(_ configuration: GatewayConfiguration) throws(GatewayError) -> () -> Void
}

extension Ingress {
    /// Takes nothing new, answers what is in hand, and ends with the last connection, or at the limit.
    func drain(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        await listener.drain(within: limit)
        // Connections are gone at once that their clients have ended; what came over them may still be on its way to disk.
        await unfinished?.untilNone(within: deadline - .now)
    }

    /// The Producer under whose name a listener's notifications are in the journal.
    ///
    /// - Throws: ``GatewayError`` of kind `cannotListen`: a journal that fails may be opened anew.
    static func producer(named name: String, of engine: PushEngine) throws(GatewayError) -> Producer {
        do {
            return try engine.producer(named: name)
        } catch {
            throw GatewayError(.cannotListen, "the journal can't take the Producer \(name): \(error)")
        }
    }
}
