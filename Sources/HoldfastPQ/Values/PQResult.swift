internal import CHoldfastPQ

/// The rows of one statement's answer, in libpq's memory.
///
/// Unchecked, because libpq only reads a finished result, and any thread may do so.
@safe package final class PQResult: @unchecked Sendable {
    private let handle: OpaquePointer

    /// Takes the result over.
    @unsafe init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var status: ExecStatusType { unsafe PQresultStatus(handle) }

    package var rowCount: Int { Int(unsafe PQntuples(handle)) }
    package var columnCount: Int { Int(unsafe PQnfields(handle)) }

    /// Such as `INSERT 0 1`. After a `COMMIT` of a transaction that had failed it is `ROLLBACK`.
    package var command: String { unsafe String(cString: PQcmdStatus(handle)) }

    /// The rows that the statement changed or found; 0 for statements that have none.
    package var affectedRows: Int { Int(unsafe String(cString: PQcmdTuples(handle))) ?? 0 }

    /// - Throws: `unexpected` when there is no such row.
    package func row(_ index: Int) throws(PQError) -> PQRow {
        guard index >= 0, index < rowCount else {
            throw PQError(.unexpected, "the answer has \(rowCount) rows, and row \(index + 1) was wanted")
        }
        return PQRow(result: self, index: index)
    }

    package var rows: [PQRow] { (0..<rowCount).map { PQRow(result: self, index: $0) } }

    func isNull(_ row: Int, _ column: Int) -> Bool { unsafe PQgetisnull(handle, Int32(row), Int32(column)) != 0 }

    func type(_ column: Int) -> PQType { PQType(rawValue: unsafe PQftype(handle, Int32(column))) }

    func isBinary(_ column: Int) -> Bool { unsafe PQfformat(handle, Int32(column)) == 1 }

    /// Passes a value's bytes in place. The row and the column exist.
    func withBytes<R, E>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        let count = Int(unsafe PQgetlength(handle, Int32(row), Int32(column)))
        let start = unsafe UnsafeRawPointer(PQgetvalue(handle, Int32(row), Int32(column)))
        let bytes = unsafe UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count)
        return try body(unsafe bytes.span)
    }

    /// The server's report of an error or a notice; `nil` when libpq made the error itself.
    var report: ServerReport? { unsafe Self.report(handle) }

    /// libpq's own words for an error without a report.
    var errorMessage: String { unsafe String(cString: PQresultErrorMessage(handle)) }

    /// - Parameter handle: stays with the caller.
    @unsafe static func report(_ handle: OpaquePointer?) -> ServerReport? {
        func field(_ letter: UInt8) -> String? {
            unsafe PQresultErrorField(handle, Int32(letter)).map { unsafe String(cString: $0) }
        }
        guard let sqlState = field(UInt8(ascii: "C")) else { return nil }
        return ServerReport(
            // Servers before 9.6 have only the translated severity.
            severity: field(UInt8(ascii: "V")) ?? field(UInt8(ascii: "S")) ?? "ERROR", sqlState: sqlState,
            message: field(UInt8(ascii: "M")) ?? "no message", detail: field(UInt8(ascii: "D")),
            hint: field(UInt8(ascii: "H")), constraint: field(UInt8(ascii: "n")), function: field(UInt8(ascii: "R")),
            file: field(UInt8(ascii: "F")))
    }
}
