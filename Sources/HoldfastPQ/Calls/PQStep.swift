/// A statement of a call, with its parameters.
package struct PQStep: Sendable {
    let statement: PQStatement
    let parameters: PQParameters
    /// Whether the caller vouches that it changes nothing.
    let isReading: Bool

    /// - Parameter reading: that the statement changes nothing, so that a loss of the connection leaves nothing in doubt. A
    ///   `SELECT` of a function that writes is not reading.
    package init(_ statement: PQStatement, _ parameters: PQParameters = PQParameters(), reading: Bool = false) {
        self.statement = statement
        self.parameters = parameters
        isReading = reading
    }

    package init(_ sql: String, _ parameters: PQParameters = PQParameters(), reading: Bool = false) {
        self.init(PQStatement(sql), parameters, reading: reading)
    }

    package static let begin = PQStep("BEGIN")
    package static let commit = PQStep("COMMIT")
    package static let rollback = PQStep("ROLLBACK")
}

/// The text of one statement.
package struct PQStatement: Hashable, Sendable {
    package let sql: String
    /// The name under which each session that runs it prepares it; `nil` to send the text every time.
    package let name: String?
    let effect: StatementEffect

    package init(_ sql: String, preparedAs name: String? = nil) {
        self.sql = sql
        self.name = name
        effect = StatementEffect(sql)
    }
}
