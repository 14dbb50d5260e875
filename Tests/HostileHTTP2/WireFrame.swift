/// A frame as the fuzzer writes and reads it: by its own hand, not by the codec under test.
package struct WireFrame {
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let pushPromise: UInt8 = 5
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package var kind: UInt8
    package var flags: UInt8 = 0
    package var stream: UInt32 = 0
    package var payload: [UInt8] = []
    /// What the head claims where it lies about the payload's length.
    package var claimedLength: Int?

    package init(
        kind: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = [], claimedLength: Int? = nil
    ) {
        (self.kind, self.flags, self.stream) = (kind, flags, stream)
        (self.payload, self.claimedLength) = (payload, claimedLength)
    }

    package var endsStream: Bool { flags & 1 != 0 && (kind == Kind.data || kind == Kind.headers) }
    package var isAck: Bool { flags & 1 != 0 }

    package var bytes: [UInt8] {
        let length = claimedLength ?? payload.count
        return [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), kind, flags]
            + Self.big32(stream) + payload
    }

    package static func big32(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    /// The payload's number at an offset, if it reaches that far.
    package func number(at offset: Int) -> UInt32? {
        guard payload.count >= offset + 4 else { return nil }
        return payload[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: The usual ones

    package static func headers(_ stream: UInt32, _ block: [UInt8], end: Bool) -> WireFrame {
        WireFrame(kind: Kind.headers, flags: end ? 5 : 4, stream: stream, payload: block)
    }
    package static func data(_ stream: UInt32, _ bytes: [UInt8], end: Bool) -> WireFrame {
        WireFrame(kind: Kind.data, flags: end ? 1 : 0, stream: stream, payload: bytes)
    }
    package static func reset(_ stream: UInt32, _ code: UInt32) -> WireFrame {
        WireFrame(kind: Kind.reset, stream: stream, payload: big32(code))
    }
    package static func settings(_ parameters: [(UInt16, UInt32)]) -> WireFrame {
        WireFrame(
            kind: Kind.settings, payload: parameters.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + big32($0.1) })
    }
    package static let settingsAck = WireFrame(kind: Kind.settings, flags: 1)
    package static func ping(_ opaque: [UInt8], ack: Bool = false) -> WireFrame {
        WireFrame(kind: Kind.ping, flags: ack ? 1 : 0, payload: opaque)
    }
    package static func goAway(_ last: UInt32, _ code: UInt32, _ debug: [UInt8] = []) -> WireFrame {
        WireFrame(kind: Kind.goAway, payload: big32(last) + big32(code) + debug)
    }
    package static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> WireFrame {
        WireFrame(kind: Kind.windowUpdate, stream: stream, payload: big32(increment))
    }
}

/// Cuts bytes, as they come, into frames.
package struct FrameCutter {
    private var rest: [UInt8] = []
    private var prefaceLeft: Int

    package init(hasPreface: Bool) { prefaceLeft = hasPreface ? WireFrame.preface.count : 0 }

    /// Whether the bytes so far end with a frame.
    package var isEven: Bool { rest.isEmpty && prefaceLeft == 0 }

    package mutating func frames(_ bytes: [UInt8]) -> [WireFrame] {
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
