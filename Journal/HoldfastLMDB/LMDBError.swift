/// A failure of liblmdb, or of the system beneath it.
///
/// "Not found" is never an error: look-ups return an optional or a Bool, so that a failed look-up cannot pass for a
/// miss.
package struct LMDBError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A raw return code: negative ones are liblmdb's, positive ones are `errno`.
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
    }

    package let code: Code
    /// The failed call, such as `mdb_txn_commit`.
    package let operation: String
    /// The file or directory it was about.
    package let path: String

    package init(_ code: Code, _ operation: String, path: String) {
        self.code = code
        self.operation = operation
        self.path = path
    }

    package var description: String { "\(path): \(operation): \(code)" }
}
