package import Foundation

/// The values for `$1`, `$2` and so on, in PostgreSQL's binary format, in one buffer.
package struct PQParameters: Sendable {
    private(set) var types: [UInt32] = []
    /// Where each value lies in ``bytes``; `nil` for null.
    private(set) var places: [Range<Int>?] = []
    /// Begins with a byte of no meaning, so that an empty value has an address, too.
    private(set) var bytes: [UInt8] = [0]

    package init() {}

    package var count: Int { types.count }

    package mutating func append(null type: PQType) {
        types.append(type.rawValue)
        places.append(nil)
    }

    package mutating func append(_ value: Bool) { append(.bool) { $0.append(value ? 1 : 0) } }
    package mutating func append(_ value: Int16) { append(.int2) { $0.appendBigEndian(UInt16(bitPattern: value)) } }
    package mutating func append(_ value: Int32) { append(.int4) { $0.appendBigEndian(UInt32(bitPattern: value)) } }
    package mutating func append(_ value: Int64) { append(.int8) { $0.appendBigEndian(UInt64(bitPattern: value)) } }
    package mutating func append(_ value: String) { append(.text) { $0.append(contentsOf: value.utf8) } }
    package mutating func append(_ value: [UInt8]) { append(.bytea) { $0.append(contentsOf: value) } }

    package mutating func append(_ value: Span<UInt8>) {
        let start = bytes.count
        bytes.reserveCapacity(start + value.count)
        for index in value.indices { bytes.append(value[index]) }
        finish(.bytea, from: start)
    }

    package mutating func append(_ value: UUID) {
        append(.uuid) { bytes in
            let raw = value.uuid
            bytes += [
                raw.0, raw.1, raw.2, raw.3, raw.4, raw.5, raw.6, raw.7, raw.8, raw.9, raw.10, raw.11, raw.12, raw.13,
                raw.14, raw.15,
            ]
        }
    }

    /// For `unnest`: a column of a table in one parameter.
    package mutating func append(_ values: [Int64]) {
        append(.int8Array) { bytes in
            bytes.reserveCapacity(bytes.count + 20 + values.count * 12)
            bytes.appendArrayHeader(of: .int8, count: values.count)
            for value in values {
                bytes.appendBigEndian(UInt32(8))
                bytes.appendBigEndian(UInt64(bitPattern: value))
            }
        }
    }

    /// For `unnest`: a column of a table in one parameter.
    package mutating func append(_ values: [[UInt8]]) {
        append(.byteaArray) { bytes in
            bytes.reserveCapacity(bytes.count + 20 + values.reduce(0) { $0 + $1.count + 4 })
            bytes.appendArrayHeader(of: .bytea, count: values.count)
            for value in values {
                bytes.appendBigEndian(UInt32(truncatingIfNeeded: value.count))
                bytes.append(contentsOf: value)
            }
        }
    }

    /// For `unnest`: a column of type uuid, each by its halves.
    package mutating func append(_ values: [(high: UInt64, low: UInt64)]) {
        append(.uuidArray) { bytes in
            bytes.reserveCapacity(bytes.count + 20 + values.count * 20)
            bytes.appendArrayHeader(of: .uuid, count: values.count)
            for value in values {
                bytes.appendBigEndian(UInt32(16))
                bytes.appendBigEndian(value.high)
                bytes.appendBigEndian(value.low)
            }
        }
    }

    private mutating func append(_ type: PQType, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        finish(type, from: start)
    }

    private mutating func finish(_ type: PQType, from start: Int) {
        types.append(type.rawValue)
        places.append(start..<bytes.count)
    }
}

extension [UInt8] {
    fileprivate mutating func appendBigEndian<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }

    /// One dimension from 1 on, without nulls. PostgreSQL's empty array has no dimension.
    fileprivate mutating func appendArrayHeader(of element: PQType, count: Int) {
        appendBigEndian(UInt32(count == 0 ? 0 : 1))
        appendBigEndian(UInt32(0))
        appendBigEndian(element.rawValue)
        guard count > 0 else { return }
        appendBigEndian(UInt32(truncatingIfNeeded: count))
        appendBigEndian(UInt32(1))
    }
}
