/// A frame as the fuzzer writes and reads it: by its own hand, not by the codec under test.
struct WireFrame {
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []
    /// What the head claims where it lies about the payload's length.
    var claimedLength: Int?

    var endsStream: Bool { flags & 1 != 0 && (kind == Kind.data || kind == Kind.headers) }
    var isAck: Bool { flags & 1 != 0 }

    var bytes: [UInt8] {
        let length = claimedLength ?? payload.count
        return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), kind, flags]
            + Self.big32(stream) + payload
    }

    static func big32(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    /// The payload's number at an offset, if it reaches that far.
    func number(at offset: Int) -> UInt32? {
        guard payload.count >= offset + 4 else { return nil }
        return payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: The usual ones

    static func headers(_ stream: UInt32, _ block: [UInt8], end: Bool) -> WireFrame {
        WireFrame(kind: Kind.headers, flags: end ? 5 : 4, stream: stream, payload: block)
    }
    static func data(_ stream: UInt32, _ bytes: [UInt8], end: Bool) -> WireFrame {
        WireFrame(kind: Kind.data, flags: end ? 1 : 0, stream: stream, payload: bytes)
    }
    static func reset(_ stream: UInt32, _ code: UInt32) -> WireFrame {
        WireFrame(kind: Kind.reset, stream: stream, payload: big32(code))
    }
    static func settings(_ parameters: [(UInt16, UInt32)]) -> WireFrame {
        WireFrame(
            kind: Kind.settings, payload: parameters.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + big32($0.1) })
    }
    static let settingsAck = WireFrame(kind: Kind.settings, flags: 1)
    static func ping(_ opaque: [UInt8], ack: Bool = false) -> WireFrame {
        WireFrame(kind: Kind.ping, flags: ack ? 1 : 0, payload: opaque)
    }
    static func goAway(_ last: UInt32, _ code: UInt32, _ debug: [UInt8] = []) -> WireFrame {
        WireFrame(kind: Kind.goAway, payload: big32(last) + big32(code) + debug)
    }
    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> WireFrame {
        WireFrame(kind: Kind.windowUpdate, stream: stream, payload: big32(increment))
    }
}

/// Cuts bytes, as they come, into frames.
struct FrameCutter {
    private var rest: [UInt8] = []
    private var prefaceLeft: Int

    init(hasPreface: Bool) { prefaceLeft = hasPreface ? WireFrame.preface.count : 0 }

    /// Whether the bytes so far end with a frame.
    var isEven: Bool { rest.isEmpty && prefaceLeft == 0 }

    mutating func frames(_ bytes: [UInt8]) -> [WireFrame] {
        rest += bytes
        let skipped = min(prefaceLeft, rest.count)
        prefaceLeft -= skipped
        var start = skipped
        var frames: [WireFrame] = []
        while rest.count - start >= 9 {
            let length = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            guard rest.count - start >= 9 + length else { break }
            let stream = rest[start + 5..<start + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                WireFrame(
                    kind: rest[start + 3], flags: rest[start + 4], stream: stream & 0x7fff_ffff,
                    payload: Array(rest[start + 9..<start + 9 + length])))
            start += 9 + length
        }
        rest.removeFirst(start)
        return frames
    }
}
