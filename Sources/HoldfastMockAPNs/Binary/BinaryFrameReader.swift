import HoldfastMocking
import NIOCore

/// Parses the binary protocol: bytes in, split anywhere; frames out.
///
/// A fault in a frame is found as soon as its bytes show it, and is the same for every split. Holds one read's bytes
/// and at most one incomplete frame, ``frameLimit`` bytes.
struct BinaryFrameReader {
    /// One notification. The ranges count from the front of ``BinaryFrameReader/buffer``'s readable bytes, until the next
    /// ``BinaryFrameReader/receive(_:)``.
    struct Frame: Equatable {
        var command: UInt8
        /// 0 where the frame has none.
        var identifier: UInt32 = 0
        var expiration: UInt32?
        var priority: UInt8?
        var token = 0..<0
        var payload = 0..<0
        /// The status that a malformed frame is refused with. Nothing can be read behind such a frame.
        var fault: MockBinaryStatus?
    }

    /// The most bytes of a frame of command 2, which could announce four billion. The other commands have a smaller
    /// maximum by their form. A longer frame is refused by its head, as a payload that is too large.
    static let frameLimit = 1 << 17

    static let tokenByteCount = 32

    let payloadLimit: Int
    private(set) var buffer = ByteBuffer()
    /// The number of bytes of the buffer that were handed out.
    private var position = 0

    init(payloadLimit: Int) { self.payloadLimit = payloadLimit }

    /// The number of bytes that wait for the rest of their frame.
    var waitingByteCount: Int { buffer.readableBytes - position }

    mutating func receive(_ bytes: ByteBuffer) {
        buffer.moveReaderIndex(forwardBy: position)
        position = 0
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.discardReadBytes()
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next frame; nil until all of its bytes have arrived.
    mutating func next() -> Frame? {
        guard let (frame, end) = parse(buffer.readableBytesUInt8Span) else { return nil }
        position = end
        return frame
    }

    private func parse(_ bytes: Span<UInt8>) -> (frame: Frame, end: Int)? {
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case 0: return simple(bytes, Frame(command: 0), from: position + 1)
        case 1: return enhanced(bytes)
        case 2: return items(bytes)
        case let command: return (Frame(command: command, fault: .processingError), bytes.count)
        }
    }

    private func enhanced(_ bytes: Span<UInt8>) -> (frame: Frame, end: Int)? {
        guard bytes.count - position >= 9 else { return nil }
        let frame = Frame(
            command: 1, identifier: bytes.bigEndian32(at: position + 1), expiration: bytes.bigEndian32(at: position + 5)
        )
        return simple(bytes, frame, from: position + 9)
    }

    /// Reads token and payload, each behind its length.
    private func simple(_ bytes: Span<UInt8>, _ head: Frame, from start: Int) -> (frame: Frame, end: Int)? {
        var frame = head
        guard bytes.count - start >= 2 else { return nil }
        let tokenCount = bytes.bigEndian16(at: start)
        if let fault = Self.fault(ofTokenByteCount: tokenCount) {
            frame.fault = fault
            return (frame, start + 2)
        }
        frame.token = start + 2..<start + 2 + tokenCount
        guard bytes.count - frame.token.upperBound >= 2 else { return nil }
        let payloadCount = bytes.bigEndian16(at: frame.token.upperBound)
        let payloadStart = frame.token.upperBound + 2
        if let fault = fault(ofPayloadByteCount: payloadCount) {
            frame.fault = fault
            return (frame, payloadStart)
        }
        guard bytes.count - payloadStart >= payloadCount else { return nil }
        frame.payload = payloadStart..<payloadStart + payloadCount
        return (frame, frame.payload.upperBound)
    }

    private func items(_ bytes: Span<UInt8>) -> (frame: Frame, end: Int)? {
        guard bytes.count - position >= 5 else { return nil }
        let count = Int(bytes.bigEndian32(at: position + 1))
        let start = position + 5
        guard count <= Self.frameLimit else { return (Frame(command: 2, fault: .invalidPayloadSize), start) }
        guard bytes.count - start >= count else { return nil }
        var frame = Frame(command: 2)
        frame.fault = read(bytes, start..<start + count, into: &frame)
        return (frame, start + count)
    }

    /// - Returns: the fault; nil for none.
    private func read(_ bytes: Span<UInt8>, _ range: Range<Int>, into frame: inout Frame) -> MockBinaryStatus? {
        var place = range.lowerBound
        var seen: UInt8 = 0
        while place < range.upperBound {
            guard range.upperBound - place >= 3 else { return .invalidFrameItem }
            let item = bytes[place]
            let data = place + 3..<place + 3 + bytes.bigEndian16(at: place + 1)
            guard data.upperBound <= range.upperBound, (1...5).contains(item), seen & 1 << item == 0,
                Self.take(item, bytes, data, into: &frame)
            else { return .invalidFrameItem }
            seen |= 1 << item
            place = data.upperBound
        }
        guard seen & 1 << 1 != 0 else { return .missingToken }
        if let fault = Self.fault(ofTokenByteCount: frame.token.count) { return fault }
        return fault(ofPayloadByteCount: frame.payload.count)
    }

    /// - Returns: false for an item that cannot have this length or value.
    private static func take(
        _ item: UInt8, _ bytes: Span<UInt8>, _ data: Range<Int>, into frame: inout Frame
    ) -> Bool {
        switch item {
        case 1: frame.token = data
        case 2: frame.payload = data
        case 3:
            guard data.count == 4 else { return false }
            frame.identifier = bytes.bigEndian32(at: data.lowerBound)
        case 4:
            guard data.count == 4 else { return false }
            frame.expiration = bytes.bigEndian32(at: data.lowerBound)
        default:
            guard data.count == 1, bytes[data.lowerBound] == 10 || bytes[data.lowerBound] == 5 else { return false }
            frame.priority = bytes[data.lowerBound]
        }
        return true
    }

    private static func fault(ofTokenByteCount count: Int) -> MockBinaryStatus? {
        count == 0 ? .missingToken : count == tokenByteCount ? nil : .invalidTokenSize
    }

    private func fault(ofPayloadByteCount count: Int) -> MockBinaryStatus? {
        count == 0 ? .missingPayload : count <= payloadLimit ? nil : .invalidPayloadSize
    }
}

extension Span<UInt8> {
    func bigEndian16(at index: Int) -> Int { Int(self[index]) << 8 | Int(self[index + 1]) }

    func bigEndian32(at index: Int) -> UInt32 {
        UInt32(self[index]) << 24 | UInt32(self[index + 1]) << 16 | UInt32(self[index + 2]) << 8
            | UInt32(self[index + 3])
    }
}
