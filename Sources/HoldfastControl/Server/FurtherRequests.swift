/// What a process answers beyond the resources of its socket: requests with POST and a form, which change nothing.
package struct FurtherRequests: Sendable {
    /// Answers a request.
    ///
    /// - Returns: nil for a path that it does not know.
    /// - Throws: what is told to whoever asks.
    package typealias Answer = @Sendable (_ path: String, _ body: [UInt8]) async throws -> [UInt8]?

    /// The paths that it knows.
    package let paths: Set<String>
    package let answer: Answer

    package init(paths: Set<String>, answer: @escaping Answer) { (self.paths, self.answer) = (paths, answer) }
}
