internal import Holdfast

/// The first line that the owner says on each connection.
struct Greeting: Codable, Hashable {
    /// Of the protocol that this code speaks.
    static let currentVersion = 1

    /// Always `control`: so that whoever meets the socket knows what it is.
    var holdfast = "control"
    var version = Greeting.currentVersion
    var pid: Int32
    var program: String
}

/// The first line of an answer, or of a refusal in place of a greeting.
struct AnswerHead: Codable, Hashable {
    var error: WireError?
    /// To `discard` and `unblacklist`.
    var count: Int?
    /// To `withdraw`.
    var withdrawal: WireWithdrawal?

    /// To everything else that succeeded.
    static let done = AnswerHead()
}

extension ControlMessage {
    /// The answer for what failed.
    init(failure: any Error) {
        do {
            try self.init(head: AnswerHead(error: WireError(failure)))
        } catch {
            // Texts and numbers can always be encoded.
            self.init(lines: [
                Array(#"{"error":{"code":"failed","kind":"control","message":"an error that can't be told"}}"#.utf8)
            ])
        }
    }

    /// The answer, for the one who asked.
    ///
    /// - Throws: what the owner threw, or ``ControlError`` with code `malformed`.
    func answer() throws -> AnswerHead {
        let head = try head(as: AnswerHead.self)
        if let error = head.error { throw error.error }
        return head
    }
}
