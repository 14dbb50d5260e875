/// The answers to the statements of a call, in their order.
package struct PQAnswer: Sendable {
    package let results: [PQResult]
    /// Warnings and notices that came with them.
    package let notices: [ServerReport]

    package subscript(step: Int) -> PQResult { results[step] }
}

/// Words that were sent by `NOTIFY`.
package struct PQNotification: Hashable, Sendable {
    package let channel: String
    package let payload: String
    /// The session that sent it.
    package let backend: Int32
}
