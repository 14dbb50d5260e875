/// The only answer of a gateway of the binary protocol: an error about one notification. The gateway closes behind it.
package struct ErrorResponse: Hashable, Sendable {
    package static let byteCount = 6

    package let status: BinaryStatus
    /// The identifier of the notification; with status 10, of the last one that was taken; 0 when the service can't
    /// tell.
    package let identifier: UInt32

    package init(status: BinaryStatus, identifier: UInt32) {
        self.status = status
        self.identifier = identifier
    }

    package func append(to output: inout [UInt8]) {
        output.append(BinaryProtocol.Command.error)
        output.append(status.rawValue)
        output.appendBigEndian(identifier)
    }
}

/// Reads an error response from bytes split anywhere.
package struct ErrorResponseReader: Sendable {
    /// The peer has sent something else: it is no gateway of this protocol.
    package struct NotAnErrorResponse: Error, Hashable, Sendable {
        package let firstByte: UInt8
    }

    private var bytes: [UInt8] = []

    package init() {}

    /// - Returns: the response once it is complete. Bytes behind it are ignored.
    package mutating func receive(_ input: Span<UInt8>) throws(NotAnErrorResponse) -> ErrorResponse? {
        for index in input.indices where bytes.count < ErrorResponse.byteCount { bytes.append(input[index]) }
        guard let first = bytes.first else { return nil }
        guard first == BinaryProtocol.Command.error else { throw NotAnErrorResponse(firstByte: first) }
        guard bytes.count == ErrorResponse.byteCount else { return nil }
        return ErrorResponse(status: BinaryStatus(rawValue: bytes[1]), identifier: bytes.span.bigEndian32(at: 2))
    }
}
