/// Reads the requests of a client of the binary protocol, commands 0, 1 and 2, from bytes split anywhere.
///
/// Tolerates the habits of clients in the wild: items of command 2 in any order; expiration, priority and identifier
/// left out; wrong lengths of a token or a payload, which have statuses of their own; a priority at the end of its
/// frame that has one byte and claims four (go-libapns). Rejects an unknown command or item, and an item that comes
/// twice, is cut off, or has not its fixed size.
package struct BinaryRequestReader: Sendable {
    /// The most bytes of a whole request, its command byte and lengths included. A frame that claims more is a fault at
    /// once.
    package static let defaultLimit = 16 * 1024

    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var fault: BinaryRequestFault?

    package init(limit: Int = Self.defaultLimit) { self.limit = limit }

    /// Whether the bytes so far end inside a request.
    package var isInRequest: Bool { start < bytes.count }

    /// Takes bytes. Keeps everything that ``next()`` has not returned yet: call that until it returns nil, and the kept
    /// bytes stay below the limit.
    package mutating func append(_ input: Span<UInt8>) {
        bytes.removeFirst(start)
        start = 0
        bytes.reserveCapacity(bytes.count + input.count)
        for index in input.indices { bytes.append(input[index]) }
    }

    /// - Returns: the next complete request; nil when more bytes are needed.
    /// - Throws: a fault; after the first one always the same.
    package mutating func next() throws(BinaryRequestFault) -> BinaryRequest? {
        if let fault { throw fault }
        guard start < bytes.count else { return nil }
        do throws(BinaryRequestFault) {
            switch bytes[start] {
            case BinaryProtocol.Command.simple: return try plain(headerByteCount: 1)
            case BinaryProtocol.Command.enhanced: return try plain(headerByteCount: 9)
            case BinaryProtocol.Command.framed: return try framed()
            case let command: throw Self.fault(.processingError, 0, "an unknown command \(command)")
            }
        } catch {
            fault = error
            throw error
        }
    }

    private var available: Int { bytes.count - start }

    /// Reads command 0 or 1, which differ only in the fields before the token's length.
    private mutating func plain(headerByteCount: Int) throws(BinaryRequestFault) -> BinaryRequest? {
        guard available >= headerByteCount + 2 else { return nil }
        var request = BinaryRequest(command: bytes[start])
        if headerByteCount > 1 {
            request.identifier = bytes.span.bigEndian32(at: start + 1)
            request.expiration = bytes.span.bigEndian32(at: start + 5)
        }
        let identifier = request.identifier ?? 0
        let token = start + headerByteCount + 2
        let tokenEnd = token + Int(bytes.span.bigEndian16(at: token - 2))
        guard tokenEnd + 2 - start <= limit else { throw tooLong(.invalidTokenSize, identifier) }
        guard bytes.count >= tokenEnd + 2 else { return nil }
        let payload = tokenEnd + 2
        let payloadEnd = payload + Int(bytes.span.bigEndian16(at: tokenEnd))
        guard payloadEnd - start <= limit else { throw tooLong(.invalidPayloadSize, identifier) }
        guard bytes.count >= payloadEnd else { return nil }
        request.token = Array(bytes[token..<tokenEnd])
        request.payload = Array(bytes[payload..<payloadEnd])
        start = payloadEnd
        return request
    }

    private mutating func framed() throws(BinaryRequestFault) -> BinaryRequest? {
        guard available >= 5 else { return nil }
        let length = Int(bytes.span.bigEndian32(at: start + 1))
        guard length + 5 <= limit else { throw tooLong(.invalidPayloadSize, 0) }
        guard available >= length + 5 else { return nil }
        let request = try Self.items(bytes, in: start + 5..<start + 5 + length)
        start += length + 5
        return request
    }

    private static func items(_ bytes: [UInt8], in range: Range<Int>) throws(BinaryRequestFault) -> BinaryRequest {
        var request = BinaryRequest(command: BinaryProtocol.Command.framed)
        var position = range.lowerBound
        while position < range.upperBound {
            let identifier = request.identifier ?? 0
            guard range.upperBound - position >= 3 else { throw cutOff(identifier) }
            let item = bytes[position]
            let data = position + 3
            var end = data + Int(bytes.span.bigEndian16(at: position + 1))
            if item == BinaryProtocol.Item.priority, end > range.upperBound, range.upperBound == data + 1 {
                end = range.upperBound
            }
            guard end <= range.upperBound else { throw cutOff(identifier) }
            guard set(item, bytes, data..<end, in: &request) else {
                throw fault(
                    .invalidFrameItem, identifier,
                    "item \(item) of \(end - data) bytes is unknown, repeated or misshapen")
            }
            position = end
        }
        return request
    }

    /// - Returns: false for an unknown item.
    private static func set(_ item: UInt8, _ bytes: [UInt8], _ data: Range<Int>, in request: inout BinaryRequest)
        -> Bool
    {
        switch item {
        case BinaryProtocol.Item.token where request.token == nil:
            request.token = Array(bytes[data])
        case BinaryProtocol.Item.payload where request.payload == nil:
            request.payload = Array(bytes[data])
        case BinaryProtocol.Item.identifier where request.identifier == nil && data.count == 4:
            request.identifier = bytes.span.bigEndian32(at: data.lowerBound)
        case BinaryProtocol.Item.expiration where request.expiration == nil && data.count == 4:
            request.expiration = bytes.span.bigEndian32(at: data.lowerBound)
        case BinaryProtocol.Item.priority where request.priority == nil && data.count == 1:
            request.priority = bytes[data.lowerBound]
        default: return false
        }
        return true
    }

    private func tooLong(_ status: BinaryStatus, _ identifier: UInt32) -> BinaryRequestFault {
        Self.fault(status, identifier, "a request of more than \(limit) bytes")
    }

    private static func cutOff(_ identifier: UInt32) -> BinaryRequestFault {
        fault(.invalidFrameItem, identifier, "an item goes beyond its frame")
    }

    private static func fault(
        _ status: BinaryStatus, _ identifier: UInt32, _ message: String
    ) -> BinaryRequestFault {
        BinaryRequestFault(answer: ErrorResponse(status: status, identifier: identifier), message: message)
    }
}
