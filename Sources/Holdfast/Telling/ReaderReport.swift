/// How far a reader of outcomes has come, and what keeps it from going on, as it says itself.
package struct ReaderReport: Hashable, Sendable {
    /// Everything up to here was read, also where that is not durable yet.
    package var cursor: OutcomeCursor
    /// For operators; nil while all is well.
    package var trouble: String?
    /// Something that an operator should know and that holds up nothing; nil for nothing.
    package var notice: String?

    package init(cursor: OutcomeCursor, trouble: String? = nil, notice: String? = nil) {
        self.cursor = cursor
        self.trouble = trouble
        self.notice = notice
    }
}
