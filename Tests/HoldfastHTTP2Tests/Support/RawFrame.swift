import NIOCore
import NIOHPACK

/// Frames written and read by the tests' own hand, not by the codec under test.
struct RawFrame: Equatable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        [UInt8(payload.count >> 16 & 255), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255), type, flags]
            + big32(stream) + payload
    }

    /// Cuts bytes into frames; nil when they do not end with one.
    static func parse(_ bytes: [UInt8]) -> [RawFrame]? {
        var frames: [RawFrame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 9 else { return nil }
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard rest.count >= 9 + length else { return nil }
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                RawFrame(
                    type: head[3], flags: head[4], stream: stream, payload: Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    static let settings = RawFrame(type: 4)
    static let settingsAck = RawFrame(type: 4, flags: 1)

    static func settings(_ parameters: (UInt16, UInt32)...) -> RawFrame {
        RawFrame(type: 4, payload: parameters.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + big32($0.1) })
    }
    static func headers(_ stream: UInt32, _ block: [UInt8], end: Bool, endHeaders: Bool = true) -> RawFrame {
        RawFrame(type: 1, flags: (end ? 1 : 0) | (endHeaders ? 4 : 0), stream: stream, payload: block)
    }
    static func continuation(_ stream: UInt32, _ block: [UInt8], endHeaders: Bool) -> RawFrame {
        RawFrame(type: 9, flags: endHeaders ? 4 : 0, stream: stream, payload: block)
    }
    static func data(_ stream: UInt32, _ bytes: [UInt8], end: Bool) -> RawFrame {
        RawFrame(type: 0, flags: end ? 1 : 0, stream: stream, payload: bytes)
    }
    static func reset(_ stream: UInt32, _ code: UInt32) -> RawFrame {
        RawFrame(type: 3, stream: stream, payload: big32(code))
    }
    static func ping(_ opaque: [UInt8], ack: Bool = false) -> RawFrame {
        RawFrame(type: 6, flags: ack ? 1 : 0, payload: opaque)
    }
    static func goAway(_ last: UInt32, _ code: UInt32, _ debug: [UInt8] = []) -> RawFrame {
        RawFrame(type: 7, payload: big32(last) + big32(code) + debug)
    }
    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> RawFrame {
        RawFrame(type: 8, stream: stream, payload: big32(increment))
    }
}

func big32(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
}

/// Header blocks by NIOHPACK's encoder, without Huffman coding and without touching the dynamic table.
func block(_ fields: (String, String)...) -> [UInt8] {
    var headers = HPACKHeaders()
    for (name, value) in fields { headers.add(name: name, value: value, indexing: .nonIndexable) }
    var encoder = HPACKEncoder(allocator: ByteBufferAllocator(), useHuffmanEncoding: false)
    var buffer = ByteBuffer()
    do { try encoder.encode(headers: headers, to: &buffer) } catch { fatalError("\(error)") }
    return Array(buffer.readableBytesView)
}

/// A header block as NIOHPACK, a foreign judge, reads it.
func decoded(_ block: [UInt8], with decoder: inout HPACKDecoder) throws -> [String] {
    var buffer = ByteBuffer(bytes: block)
    return try decoder.decodeHeaders(from: &buffer).map { "\($0.name): \($0.value)" }
}

func decoded(_ block: [UInt8]) throws -> [String] {
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    return try decoded(block, with: &decoder)
}
