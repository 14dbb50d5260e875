package import Foundation

/// A row of an answer. Every value is checked for its type and length before it is believed.
package struct PQRow: Sendable {
    let result: PQResult
    let index: Int

    /// - Throws: `unexpected` when there is no such column, here and below.
    package func isNull(_ column: Int) throws(PQError) -> Bool {
        try checkExists(column)
        return result.isNull(index, column)
    }

    package func bool(_ column: Int) throws(PQError) -> Bool {
        try fixed(column, .bool, count: 1) { $0[0] != 0 }
    }

    package func int2(_ column: Int) throws(PQError) -> Int16 {
        try fixed(column, .int2, count: 2) { Int16(bitPattern: $0.bigEndian(UInt16.self, at: 0)) }
    }

    package func int4(_ column: Int) throws(PQError) -> Int32 {
        try fixed(column, .int4, count: 4) { Int32(bitPattern: $0.bigEndian(UInt32.self, at: 0)) }
    }

    package func int8(_ column: Int) throws(PQError) -> Int64 {
        try fixed(column, .int8, count: 8) { Int64(bitPattern: $0.bigEndian(UInt64.self, at: 0)) }
    }

    package func uuid(_ column: Int) throws(PQError) -> UUID {
        try fixed(column, .uuid, count: 16) { bytes in
            UUID(
                uuid: (
                    bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                    bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
                ))
        }
    }

    package func text(_ column: Int) throws(PQError) -> String {
        try check(column, .text, .varchar, .name)
        let text: String? = result.withBytes(index, column) { bytes in
            guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: utf8)
        }
        guard let text else { throw unexpected(column, "is no UTF-8") }
        return text
    }

    /// A copy of a `bytea`.
    package func bytes(_ column: Int) throws(PQError) -> [UInt8] {
        try withBytes(column) { $0.copy(0..<$0.count) }
    }

    /// Passes a `bytea` in place.
    package func withBytes<R>(_ column: Int, _ body: (Span<UInt8>) -> R) throws(PQError) -> R {
        try check(column, .bytea)
        return result.withBytes(index, column, body)
    }

    package func int8Array(_ column: Int) throws(PQError) -> [Int64] {
        var values: [Int64] = []
        try elements(column, .int8Array, of: .int8) { bytes, range in
            guard range.count == 8 else { return false }
            values.append(Int64(bitPattern: bytes.bigEndian(UInt64.self, at: range.lowerBound)))
            return true
        }
        return values
    }

    package func byteaArray(_ column: Int) throws(PQError) -> [[UInt8]] {
        var values: [[UInt8]] = []
        try elements(column, .byteaArray, of: .bytea) { bytes, range in
            values.append(bytes.copy(range))
            return true
        }
        return values
    }
}

extension PQRow {
    private func checkExists(_ column: Int) throws(PQError) {
        guard column >= 0, column < result.columnCount else {
            throw PQError(
                .unexpected, "the answer has \(result.columnCount) columns, and column \(column + 1) was wanted")
        }
    }

    private func check(_ column: Int, _ types: PQType...) throws(PQError) {
        try checkExists(column)
        let type = result.type(column)
        guard types.contains(type) else { throw unexpected(column, "is \(type), and \(types[0]) was wanted") }
        guard result.isBinary(column) else { throw unexpected(column, "is not in binary format") }
        guard !result.isNull(index, column) else { throw unexpected(column, "is null, and \(types[0]) was wanted") }
    }

    private func fixed<R>(
        _ column: Int, _ type: PQType, count: Int, _ read: (Span<UInt8>) -> R
    ) throws(PQError) -> R {
        try check(column, type)
        let value: R? = result.withBytes(index, column) { bytes in bytes.count == count ? read(bytes) : nil }
        guard let value else { throw unexpected(column, "is no \(type): it has not \(count) bytes") }
        return value
    }

    /// - Parameter take: gets the whole array and the range of an element; returns false when that can't be one.
    private func elements(
        _ column: Int, _ type: PQType, of element: PQType, _ take: (Span<UInt8>, Range<Int>) -> Bool
    ) throws(PQError) {
        try check(column, type)
        let fault: String? = result.withBytes(index, column) { bytes in
            BinaryArray.fault(in: bytes, of: element, take)
        }
        if let fault { throw unexpected(column, "is no \(type): \(fault)") }
    }

    private func unexpected(_ column: Int, _ words: String) -> PQError {
        PQError(.unexpected, "column \(column + 1) of the answer \(words)")
    }
}
