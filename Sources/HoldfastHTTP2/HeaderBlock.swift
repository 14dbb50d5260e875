/// A header block that arrives in more than one frame.
struct HeaderBlock: Sendable {
    /// The stream whose block is open; 0 when none is.
    private(set) var streamID: UInt32 = 0
    private(set) var endsStream = false
    private var bytes: [UInt8] = []
    private var continuations = 0

    var byteCount: Int { bytes.count }

    @inline(__always) var isOpen: Bool { streamID != 0 }

    mutating func begin(_ header: FrameHeader, _ fragment: Span<UInt8>) {
        streamID = header.streamID
        endsStream = header.endsStream
        continuations = 0
        bytes.append(copying: fragment)
    }

    mutating func proceed(_ fragment: Span<UInt8>, _ limits: HTTP2Limits) throws(HTTP2Error) {
        continuations += 1
        guard continuations <= limits.maxContinuations else {
            throw HTTP2Error(.enhanceYourCalm, "more than \(limits.maxContinuations) CONTINUATION frames")
        }
        guard bytes.count + fragment.count <= limits.maxHeaderBlock else {
            throw HTTP2Error(.enhanceYourCalm, "a header block of more than \(limits.maxHeaderBlock) bytes")
        }
        bytes.append(copying: fragment)
    }

    /// Ends it and gives its bytes away.
    mutating func end() -> [UInt8] {
        let block = bytes
        self = HeaderBlock()
        return block
    }
}
