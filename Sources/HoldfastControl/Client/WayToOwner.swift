/// A way to the process that owns a journal, which carries requests there and answers back.
protocol WayToOwner: Sendable {
    /// - Parameter query: behind the `?` of the path.
    /// - Throws: ``Unsent``; ``ControlError`` and other errors for a request that may be done or not.
    func send(_ resource: Resource, _ query: String, _ body: [UInt8]) async throws -> Answer

    /// The same beyond the resources of a socket: what only reads.
    func send(path: String, _ body: [UInt8]) async throws -> Answer

    /// Lets go of what the way holds. A later request makes it anew.
    func close() async
}

/// The request was not sent whole, so nothing of it is done.
struct Unsent: Error {}
