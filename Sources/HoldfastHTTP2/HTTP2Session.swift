/// The handling of frames that differs between the two roles.
///
/// The extension below cuts bytes into frames, does the common checks, and calls these. A thrown error ends the
/// connection.
protocol HTTP2Session {
    associatedtype Events

    var connection: HTTP2Connection { get set }

    mutating func receiveHeaders(
        _ streamID: UInt32, endStream: Bool, _ block: Span<UInt8>, _ events: inout Events) throws(HTTP2Error)
    /// - Parameter flowCount: the frame's whole payload, padding included, which flow control counts.
    mutating func receiveData(
        _ streamID: UInt32, endStream: Bool, _ content: Span<UInt8>, flowCount: Int, _ events: inout Events
    ) throws(HTTP2Error)
    mutating func receiveReset(
        _ streamID: UInt32, _ code: HTTP2ErrorCode, _ events: inout Events) throws(HTTP2Error)
    /// A stream's window; `increment` is 0 where the peer sent 0.
    mutating func receiveWindowUpdate(
        _ streamID: UInt32, _ increment: Int, _ events: inout Events) throws(HTTP2Error)
    mutating func receivePriority(_ streamID: UInt32, isWellFormed: Bool, _ events: inout Events) throws(HTTP2Error)
    mutating func receiveGoAway(
        _ lastStreamID: UInt32, _ code: HTTP2ErrorCode, _ debugData: [UInt8], _ events: inout Events
    ) throws(HTTP2Error)
    /// The peer's settings are in `connection.peer`.
    mutating func receiveSettings(replacing old: HTTP2Settings, _ events: inout Events) throws(HTTP2Error)
    /// Our settings are in `connection.local`.
    mutating func receiveSettingsAck(replacing old: HTTP2Settings, _ events: inout Events)
    mutating func receivePong(_ opaque: UInt64, _ events: inout Events)
    /// Writes held DATA, of one stream or of all.
    mutating func flush(only streamID: UInt32?)
    /// Tells the peer and the caller that the connection is over.
    mutating func fail(_ error: HTTP2Error, _ events: inout Events)
}

// MARK: Bytes into frames

extension HTTP2Session {
    /// Reads all whole frames in `bytes`, from `start` on, and keeps the beginning of the next.
    mutating func receiveFrames(_ bytes: Span<UInt8>, from start: Int, _ events: inout Events) {
        do throws(HTTP2Error) {
            var offset = start
            if !connection.partial.isEmpty { offset = try completePartial(bytes, offset, &events) }
            while bytes.count &- offset >= FrameHeader.size {
                let header = FrameHeader(bytes, at: offset)
                guard header.length <= HTTP2Limits.maxFrameSize else { throw Self.tooLong(header) }
                let end = offset &+ FrameHeader.size &+ header.length
                guard end <= bytes.count else { break }
                try receive(header, bytes.extracting(offset &+ FrameHeader.size..<end), &events)
                offset = end
            }
            if offset < bytes.count { connection.partial.append(copying: bytes.extracting(offset..<bytes.count)) }
            if connection.isOutputFull { throw HTTP2Error(.enhanceYourCalm, "answers to frames are not being read") }
        } catch {
            fail(error, &events)
        }
    }

    /// Completes the frame that was cut by the end of the last call, and reads it.
    ///
    /// - Returns: where in `bytes` the next one starts.
    private mutating func completePartial(
        _ bytes: Span<UInt8>, _ start: Int, _ events: inout Events
    ) throws(HTTP2Error) -> Int {
        var offset = start
        offset += fillPartial(upTo: FrameHeader.size, bytes, offset)
        guard connection.partial.count >= FrameHeader.size else { return offset }
        let header = FrameHeader(connection.partial.span, at: 0)
        guard header.length <= HTTP2Limits.maxFrameSize else { throw Self.tooLong(header) }
        let size = FrameHeader.size + header.length
        offset += fillPartial(upTo: size, bytes, offset)
        guard connection.partial.count >= size else { return offset }
        var frame: [UInt8] = []
        swap(&frame, &connection.partial)
        try receive(header, frame.span.extracting(FrameHeader.size..<size), &events)
        frame.removeAll(keepingCapacity: true)
        swap(&frame, &connection.partial)
        return offset
    }

    /// - Returns: how many bytes were taken.
    private mutating func fillPartial(upTo count: Int, _ bytes: Span<UInt8>, _ offset: Int) -> Int {
        let taken = min(count - connection.partial.count, bytes.count - offset)
        guard taken > 0 else { return 0 }
        connection.partial.append(copying: bytes.extracting(offset..<offset + taken))
        return taken
    }

    private static func tooLong(_ header: FrameHeader) -> HTTP2Error {
        HTTP2Error(.frameSizeError, "a frame of \(header.length) bytes")
    }
}

// MARK: Frames

extension HTTP2Session {
    @inline(__always)
    private mutating func receive(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        if connection.block.isOpen || !connection.hasPeerSettings { try checkOrder(header) }
        switch header.type {
        case FrameType.headers: try headersFrame(header, payload, &events)
        case FrameType.data: try dataFrame(header, payload, &events)
        default: try otherFrame(header, payload, &events)
        }
    }

    /// The first frame is SETTINGS; an open header block is followed by its CONTINUATION and nothing else.
    private func checkOrder(_ header: FrameHeader) throws(HTTP2Error) {
        if !connection.hasPeerSettings, header.type != FrameType.settings || header.isAck {
            throw HTTP2Error(.protocolError, "the first frame is of type \(header.type), not SETTINGS")
        }
        if connection.block.isOpen,
            header.type != FrameType.continuation || header.streamID != connection.block.streamID
        {
            throw HTTP2Error(.protocolError, "a frame of type \(header.type) inside a header block")
        }
    }

    @inline(__always)
    private mutating func headersFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        guard header.streamID != 0 else { throw HTTP2Error(.protocolError, "HEADERS on stream 0") }
        var content = 0..<payload.count
        if header.flags & (FrameFlags.padded | FrameFlags.priority) != 0 {
            content = try Self.unpadded(header, payload)
            if header.hasPriority {
                guard content.count >= 5 else {
                    throw HTTP2Error(.frameSizeError, "HEADERS too short for its priority")
                }
                content = content.lowerBound + 5..<content.upperBound
            }
        }
        guard content.count <= connection.limits.maxHeaderBlock else {
            throw HTTP2Error(.enhanceYourCalm, "a header block of more than \(connection.limits.maxHeaderBlock) bytes")
        }
        let fragment = payload.extracting(content)
        if header.endsHeaders {
            try receiveHeaders(header.streamID, endStream: header.endsStream, fragment, &events)
        } else {
            connection.block.begin(header, fragment)
        }
    }

    private mutating func continuationFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        guard connection.block.isOpen else {
            throw HTTP2Error(.protocolError, "CONTINUATION without HEADERS")
        }
        try connection.block.proceed(payload, connection.limits)
        guard header.endsHeaders else { return }
        let endStream = connection.block.endsStream
        let block = connection.block.end()
        try receiveHeaders(header.streamID, endStream: endStream, block.span, &events)
    }

    @inline(__always)
    private mutating func dataFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        guard header.streamID != 0 else { throw HTTP2Error(.protocolError, "DATA on stream 0") }
        let content = header.isPadded ? try Self.unpadded(header, payload) : 0..<payload.count
        if content.isEmpty, !header.endsStream { try connection.budget.spendFrame(connection.limits) }
        try connection.receiveData(payload.count)
        try receiveData(
            header.streamID, endStream: header.endsStream, payload.extracting(content), flowCount: payload.count,
            &events)
    }

    /// The content of a padded payload.
    private static func unpadded(_ header: FrameHeader, _ payload: Span<UInt8>) throws(HTTP2Error) -> Range<Int> {
        guard header.isPadded else { return 0..<payload.count }
        guard payload.count > 0 else { throw HTTP2Error(.frameSizeError, "a padded frame without a pad length") }
        let padding = Int(payload[0])
        guard padding < payload.count else { throw HTTP2Error(.protocolError, "padding longer than its frame") }
        return 1..<payload.count - padding
    }

    private mutating func otherFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        switch header.type {
        case FrameType.continuation:
            return try continuationFrame(header, payload, &events)
        case FrameType.pushPromise:
            throw HTTP2Error(.protocolError, "PUSH_PROMISE, which is disabled")
        case FrameType.resetStream:
            try Self.check(header, isOnStream: true, length: 4)
            return try receiveReset(header.streamID, HTTP2ErrorCode(rawValue: payload.bigEndian32(at: 0)), &events)
        default:
            break
        }
        try connection.budget.spendFrame(connection.limits)
        switch header.type {
        case FrameType.priority:
            guard header.streamID != 0 else { throw HTTP2Error(.protocolError, "PRIORITY on stream 0") }
            try receivePriority(header.streamID, isWellFormed: payload.count == 5, &events)
        case FrameType.settings: try settingsFrame(header, payload, &events)
        case FrameType.ping: try pingFrame(header, payload, &events)
        case FrameType.goAway: try goAwayFrame(header, payload, &events)
        case FrameType.windowUpdate: try windowUpdateFrame(header, payload, &events)
        default: break
        }
    }

    private static func check(_ header: FrameHeader, isOnStream: Bool, length: Int) throws(HTTP2Error) {
        guard isOnStream == (header.streamID != 0) else {
            throw HTTP2Error(.protocolError, "a frame of type \(header.type) on stream \(header.streamID)")
        }
        guard header.length == length else {
            throw HTTP2Error(.frameSizeError, "a frame of type \(header.type) with \(header.length) bytes")
        }
    }

    private mutating func settingsFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        try Self.check(header, isOnStream: false, length: header.isAck ? 0 : header.length / 6 * 6)
        if header.isAck {
            let old = connection.local
            // A superfluous acknowledgement is harmless, and counted.
            if connection.settingsAcknowledged() != nil { receiveSettingsAck(replacing: old, &events) }
            return
        }
        let old = connection.peer
        try connection.peer.apply(payload, isFromServer: connection.role == .client)
        connection.output.appendSettingsAck()
        try receiveSettings(replacing: old, &events)
        connection.hasPeerSettings = true
        if connection.peer.initialWindowSize > old.initialWindowSize { flush(only: nil) }
    }

    private mutating func pingFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        try Self.check(header, isOnStream: false, length: 8)
        let opaque = payload.bigEndian64(at: 0)
        if !header.isAck {
            connection.output.appendPing(opaque, isAck: true)
        } else if connection.pingsOutstanding > 0 {
            connection.pingsOutstanding -= 1
            receivePong(opaque, &events)
        }
    }

    private mutating func goAwayFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        try Self.check(header, isOnStream: false, length: max(8, header.length))
        let end = min(payload.count, 8 + max(0, connection.limits.maxDebugData))
        var debugData: [UInt8] = []
        debugData.append(copying: payload.extracting(8..<end))
        try receiveGoAway(
            payload.bigEndian32(at: 0) & 0x7fff_ffff, HTTP2ErrorCode(rawValue: payload.bigEndian32(at: 4)), debugData,
            &events)
    }

    private mutating func windowUpdateFrame(
        _ header: FrameHeader, _ payload: Span<UInt8>, _ events: inout Events
    ) throws(HTTP2Error) {
        try Self.check(header, isOnStream: header.streamID != 0, length: 4)
        let increment = Int(payload.bigEndian32(at: 0) & 0x7fff_ffff)
        guard header.streamID == 0 else { return try receiveWindowUpdate(header.streamID, increment, &events) }
        guard increment > 0 else { throw HTTP2Error(.protocolError, "a WINDOW_UPDATE of 0") }
        let wasShut = connection.sendWindow.available == 0
        guard connection.sendWindow.change(by: increment) else {
            throw HTTP2Error(.flowControlError, "the connection's window grows past 2^31-1")
        }
        // While the connection's window was open, held-back data waits for its own stream's window, and need not be
        // looked at.
        if wasShut { flush(only: nil) }
    }
}
