internal import Holdfast

/// One protocol at one address, while it listens.
protocol Ingress: Sendable {
    /// `http2`, `binary` or `feedback`: in logs and metrics.
    var name: String { get }
    var listener: Listener { get }
    var figures: IngressFigures { get }
    /// Work that continues when its connections are gone; nil where nobody has to wait for any.
    var unfinished: UnfinishedWork? { get }

    /// Reads the changed files and the limits of another configuration. Its address stays unchanged.
    ///
    /// - Returns: a closure that takes them up; open connections continue.
    /// - Throws: ``GatewayError`` that names the fault.
    func reloading(_ configuration: GatewayConfiguration) throws(GatewayError) -> () -> Void
}

extension Ingress {
    /// Takes nothing new, answers pending requests, and ends with the last connection, or at the limit.
    func drain(within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        await listener.drain(within: limit)
        // A connection closed by its client is gone at once; its requests may still be on their way to disk.
        await unfinished?.untilNone(within: deadline - .now)
    }

    /// The Producer under whose name a listener's notifications are in the journal.
    ///
    /// - Throws: ``GatewayError`` of kind `cannotListen`: a journal that fails may be opened anew.
    static func producer(named name: String, of engine: PushEngine) throws(GatewayError) -> Producer {
        do {
            return try engine.producer(named: name)
        } catch {
            throw GatewayError(
                .cannotListen, "the journal can't take the Producer \(name): \(error)",
                journal: (error as? JournalError)?.code)
        }
    }
}
