/// Frame types of RFC 9113 §6.
enum FrameType {
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let resetStream: UInt8 = 3
    static let settings: UInt8 = 4
    static let pushPromise: UInt8 = 5
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9
}

enum FrameFlags {
    /// A flag of DATA and HEADERS.
    static let endStream: UInt8 = 0x1
    /// A flag of SETTINGS and PING.
    static let ack: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
}

/// The nine bytes before every payload.
struct FrameHeader: Equatable {
    static let size = 9

    var length: Int
    var type: UInt8
    var flags: UInt8
    /// 31 bits; the reserved one is dropped.
    var streamID: UInt32

    var endsStream: Bool { flags & FrameFlags.endStream != 0 }
    var endsHeaders: Bool { flags & FrameFlags.endHeaders != 0 }
    var isPadded: Bool { flags & FrameFlags.padded != 0 }
    var hasPriority: Bool { flags & FrameFlags.priority != 0 }
    var isAck: Bool { flags & FrameFlags.ack != 0 }
}

extension FrameHeader {
    /// Reads one at `offset`, where nine bytes are.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at offset: Int) {
        length = Int(bytes[offset]) << 16 | Int(bytes[offset &+ 1]) << 8 | Int(bytes[offset &+ 2])
        type = bytes[offset &+ 3]
        flags = bytes[offset &+ 4]
        streamID = bytes.bigEndian32(at: offset &+ 5) & 0x7fff_ffff
    }
}

extension Span<UInt8> {
    @inline(__always)
    func bigEndian16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset &+ 1])
    }

    @inline(__always)
    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset &+ 1]) << 16 | UInt32(self[offset &+ 2]) << 8
            | UInt32(self[offset &+ 3])
    }

    func bigEndian64(at offset: Int) -> UInt64 {
        UInt64(bigEndian32(at: offset)) << 32 | UInt64(bigEndian32(at: offset &+ 4))
    }
}

/// Writing frames.
extension [UInt8] {
    @inline(__always)
    mutating func appendFrameHeader(length: Int, type: UInt8, flags: UInt8, streamID: UInt32) {
        append(addingCapacity: FrameHeader.size) { bytes in
            bytes.append(UInt8(truncatingIfNeeded: length >> 16))
            bytes.append(UInt8(truncatingIfNeeded: length >> 8))
            bytes.append(UInt8(truncatingIfNeeded: length))
            bytes.append(type)
            bytes.append(flags)
            bytes.append(UInt8(truncatingIfNeeded: streamID >> 24))
            bytes.append(UInt8(truncatingIfNeeded: streamID >> 16))
            bytes.append(UInt8(truncatingIfNeeded: streamID >> 8))
            bytes.append(UInt8(truncatingIfNeeded: streamID))
        }
    }

    mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Copies borrowed bytes to the end.
    mutating func append(copying bytes: Span<UInt8>) {
        // Appending nothing to nothing would write the count, which is 0, into the storage that all empty arrays share.
        if bytes.isEmpty { return }
        append(addingCapacity: bytes.count) { end in
            for index in bytes.indices { end.append(bytes[index]) }
        }
    }

    mutating func appendResetStream(_ streamID: UInt32, _ code: HTTP2ErrorCode) {
        appendFrameHeader(length: 4, type: FrameType.resetStream, flags: 0, streamID: streamID)
        appendBigEndian(code.rawValue)
    }

    mutating func appendWindowUpdate(_ streamID: UInt32, by increment: Int) {
        appendFrameHeader(length: 4, type: FrameType.windowUpdate, flags: 0, streamID: streamID)
        appendBigEndian(UInt32(truncatingIfNeeded: increment))
    }

    mutating func appendPing(_ opaque: UInt64, isAck: Bool) {
        appendFrameHeader(length: 8, type: FrameType.ping, flags: isAck ? FrameFlags.ack : 0, streamID: 0)
        appendBigEndian(opaque)
    }

    mutating func appendGoAway(lastStreamID: UInt32, code: HTTP2ErrorCode, debugData: some Collection<UInt8>) {
        let debugData = debugData.prefix(HTTP2Limits.maxFrameSize - 8)
        appendFrameHeader(length: 8 + debugData.count, type: FrameType.goAway, flags: 0, streamID: 0)
        appendBigEndian(lastStreamID & 0x7fff_ffff)
        appendBigEndian(code.rawValue)
        append(contentsOf: debugData)
    }

    /// Writes a header block as HEADERS, and CONTINUATION where it is longer than a frame.
    @inline(__always)
    mutating func appendHeaders(_ block: [UInt8], streamID: UInt32, endStream: Bool, maxFrameSize: Int) {
        let endStream = endStream ? FrameFlags.endStream : 0
        if block.count <= maxFrameSize {
            appendFrameHeader(
                length: block.count, type: FrameType.headers, flags: endStream | FrameFlags.endHeaders,
                streamID: streamID)
            append(contentsOf: block)
        } else {
            appendLongHeaders(block, streamID: streamID, flags: endStream, maxFrameSize: maxFrameSize)
        }
    }

    private mutating func appendLongHeaders(_ block: [UInt8], streamID: UInt32, flags: UInt8, maxFrameSize: Int) {
        appendFrameHeader(length: maxFrameSize, type: FrameType.headers, flags: flags, streamID: streamID)
        append(contentsOf: block[..<maxFrameSize])
        var start = maxFrameSize
        while start < block.count {
            let end = Swift.min(start + maxFrameSize, block.count)
            appendFrameHeader(
                length: end - start, type: FrameType.continuation,
                flags: end == block.count ? FrameFlags.endHeaders : 0, streamID: streamID)
            append(contentsOf: block[start..<end])
            start = end
        }
    }

    /// Writes a body as DATA frames.
    @inline(__always)
    mutating func appendData(
        _ body: [UInt8], _ range: Range<Int>, streamID: UInt32, endStream: Bool, maxFrameSize: Int
    ) {
        var start = range.lowerBound
        repeat {
            let end = Swift.min(start + maxFrameSize, range.upperBound)
            let isLast = end == range.upperBound
            appendFrameHeader(
                length: end - start, type: FrameType.data, flags: isLast && endStream ? FrameFlags.endStream : 0,
                streamID: streamID)
            append(contentsOf: body[start..<end])
            start = end
        } while start < range.upperBound
    }
}
