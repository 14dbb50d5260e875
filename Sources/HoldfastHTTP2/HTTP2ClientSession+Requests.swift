/// The result of ``HTTP2ClientSession/startRequest(tag:headerBlock:body:bodyRange:)``.
package enum HTTP2StartResult: Sendable, Equatable {
    /// The request is in the output (its body perhaps held back by flow control, to follow by itself).
    case started(streamID: UInt32)
    /// ``HTTP2ClientSession/availableStreams`` is 0. Nothing happened.
    case noStream
    /// The driver has not taken the output, or too much DATA is held back. Nothing happened; try again later.
    case full
}

extension HTTP2ClientSession {
    /// Writes a request: HEADERS, and DATA with END_STREAM.
    ///
    /// Data that flow control holds back follows when the peer opens its windows.
    ///
    /// - Parameters:
    ///   - tag: identifies the request in events. Need not be unique here.
    ///   - headerBlock: encoded with HPACK for this connection, in the order of the calls. The caller keeps account
    ///     of the peer's dynamic table: the peer has not seen a refused block.
    ///   - body: holds the body in `bodyRange`.
    package mutating func startRequest(
        tag: UInt64, headerBlock: [UInt8], body: [UInt8], bodyRange: Range<Int>
    ) -> HTTP2StartResult {
        guard availableStreams > 0 else { return .noStream }
        guard !connection.isOutputFull, connection.held.byteCount < connection.limits.maxHeldBack else { return .full }
        var id = nextStreamID
        if !streams.isVacant(id) || streams.count &* 2 >= streams.slots.count {
            guard let vacant = vacantStreamID() else { return .noStream }
            id = vacant
        }
        nextStreamID = id &+ 2
        connection.output.appendHeaders(
            headerBlock, streamID: id, endStream: bodyRange.isEmpty, maxFrameSize: connection.frameSizeForData)
        var stream = ClientStream(
            id: id, tag: tag, sendWindow: FlowWindow(connection.peer.initialWindowSize),
            receiveWindow: ReceiveWindow(full: connection.local.initialWindowSize))
        stream.isSent =
            bodyRange.isEmpty
            || connection.send(
                body, bodyRange, on: id, endStream: true, window: &stream.sendWindow, isHeld: false)
        streams.insert(stream)
        return .started(streamID: id)
    }

    /// Ends a request without an answer: RST_STREAM. Further frames of its stream are ignored.
    ///
    /// - Returns: its tag, or nil when no such request is open.
    @discardableResult
    package mutating func cancel(streamID: UInt32, code: HTTP2ErrorCode = .cancel) -> UInt64? {
        guard connection.failure == nil, let slot = streams.find(streamID), !streams[slot].isLingering else {
            return nil
        }
        let tag = streams[slot].tag
        abandon(slot, code)
        return tag
    }

    /// Ends the oldest request with this tag. Looks at every slot: for rare events.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package mutating func cancel(tag: UInt64, code: HTTP2ErrorCode = .cancel) -> Bool {
        guard connection.failure == nil, let slot = streams.openSlots().first(where: { streams[$0].tag == tag }) else {
            return false
        }
        abandon(slot, code)
        return true
    }

    /// A stream number whose slot is free. A request that is never answered must not stop the others when the ring
    /// comes round to it, so its slot's number is passed over; a number passed over is a closed stream (RFC 9113 §5.1.1).
    private mutating func vacantStreamID() -> UInt32? {
        if streams.count * 2 >= streams.slots.count { _ = streams.makeRoom(for: nextStreamID) }
        var id = nextStreamID
        while !streams.isVacant(id) {
            id += 2
            guard id <= HTTP2ClientSession.lastStreamID else {
                nextStreamID = id
                return nil
            }
        }
        return id
    }

    // MARK: Ends

    /// RST_STREAM from us.
    mutating func abandon(_ slot: Int, _ code: HTTP2ErrorCode) {
        connection.output.appendResetStream(streams[slot].id, code)
        releaseParts(slot)
        streams.linger(at: slot)
    }

    /// The response is complete. A request whose body is not all written has no reason to go on.
    @inline(__always)
    mutating func finish(_ slot: Int) {
        if streams[slot].isSent {
            if streams[slot].response >= 0 { releaseParts(slot) }
            streams.remove(at: slot)
        } else {
            abandon(slot, .cancel)
        }
    }

    /// Frees the parts of a stream beside its slot.
    mutating func releaseParts(_ slot: Int) {
        let stream = streams[slot]
        if stream.response >= 0 {
            connection.release(responses[stream.response].cost)
            responses[stream.response].reset()
            responses.release(stream.response)
            streams[slot].response = -1
        }
        if !stream.isSent { connection.held.drop(stream.id) }
    }

    mutating func flush(only streamID: UInt32?) {
        guard !connection.held.isEmpty else { return }
        for streamID in connection.flush(&streams, only: streamID) {
            if let slot = streams.find(streamID) { streams[slot].isSent = true }
        }
    }
}

extension HTTP2Connection {
    /// Writes held DATA as far as the windows allow.
    ///
    /// - Returns: the streams that have nothing left to send.
    mutating func flush<Stream: SendingStream>(_ streams: inout StreamRing<Stream>, only: UInt32?) -> [UInt32] {
        var waiting = HeldData()
        swap(&waiting, &held)
        let done = waiting.flush(only: only) { body in
            guard sendWindow.available > 0 || body.left == 0 else { return nil }
            guard let slot = streams.find(body.streamID) else { return body.left }
            let count = min(body.left, sendWindow.available, streams[slot].sendWindow.available)
            guard count > 0 || body.left == 0 else { return 0 }
            sendWindow.use(count)
            streams[slot].sendWindow.use(count)
            output.appendData(
                body.bytes, body.start..<body.start + count, streamID: body.streamID,
                endStream: body.endsStream && count == body.left, maxFrameSize: frameSizeForData)
            return count
        }
        swap(&waiting, &held)
        return done
    }
}

/// The parts of a stream that flow control uses.
protocol SendingStream: RingStream {
    var sendWindow: FlowWindow { get set }
    var receiveWindow: ReceiveWindow { get set }
    /// The peer may still send DATA that we want.
    var isReceiving: Bool { get }
}

extension ClientStream: SendingStream {
    var isReceiving: Bool { !isLingering }
}

extension StreamRing where Stream: SendingStream {
    /// SETTINGS_INITIAL_WINDOW_SIZE of the peer changed (RFC 9113 §6.9.2).
    mutating func changeSendWindows(by delta: Int) throws(HTTP2Error) {
        for slot in slots.indices where slots[slot].id != 0 && !slots[slot].isLingering {
            guard self[slot].sendWindow.change(by: delta) else {
                throw HTTP2Error(.flowControlError, "SETTINGS make a stream's window grow past 2^31-1")
            }
        }
    }

    /// Applies an acknowledged SETTINGS_INITIAL_WINDOW_SIZE. A window that shrank below its used part would stay shut,
    /// as only DATA opens it again: such windows are opened here.
    mutating func resizeReceiveWindows(to size: Int, _ output: inout [UInt8]) {
        for slot in slots.indices where slots[slot].id != 0 && slots[slot].isReceiving {
            self[slot].receiveWindow.resize(to: size)
            let increment = self[slot].receiveWindow.replenish()
            if increment > 0 { output.appendWindowUpdate(slots[slot].id, by: increment) }
        }
    }
}
