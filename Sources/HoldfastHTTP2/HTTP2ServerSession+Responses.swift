extension HTTP2ServerSession {
    /// Answers a request: HEADERS, DATA, END_STREAM. Data that flow control holds back follows by itself.
    ///
    /// A request that is still arriving (a truncated one) is answered all the same; its rest is thrown away, up to
    /// ``HTTP2Limits/maxDiscardedBody`` or until the next ``renewFrameBudget()``.
    ///
    /// - Parameter headerBlock: encoded with HPACK, without the dynamic table; see ``headerBlock(status:_:)``.
    /// - Returns: false when the stream is no longer open or has an answer; nothing is sent then.
    @discardableResult
    package mutating func respond(streamID: UInt32, headerBlock: [UInt8], body: [UInt8] = []) -> Bool {
        guard sendHeaders(streamID: streamID, headerBlock: headerBlock, endStream: body.isEmpty) else { return false }
        return body.isEmpty || sendData(streamID: streamID, body, endStream: true)
    }

    /// Answers a request with header fields that are encoded here, without the dynamic table.
    ///
    /// - Parameter headers: lower-case names; without `:status`.
    @discardableResult
    package mutating func respond(
        streamID: UInt32, status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) -> Bool {
        respond(streamID: streamID, headerBlock: Self.headerBlock(status: status, headers), body: body)
    }

    /// A header block that needs no dynamic table, to be used as often as wanted.
    package static func headerBlock(status: Int, _ headers: [(name: String, value: String)] = []) -> [UInt8] {
        var block: [UInt8] = []
        HPACKWriter.appendStatus(status, to: &block)
        for (name, value) in headers {
            HPACKWriter.appendLiteral(name: name.utf8, value: value.utf8, indexing: .without, to: &block)
        }
        return block
    }

    /// Sends HEADERS alone: an informational response, or an answer whose DATA comes later by
    /// ``sendData(streamID:_:endStream:)``.
    ///
    /// - Returns: false when the stream is no longer open or has ended; nothing is sent then.
    @discardableResult
    package mutating func sendHeaders(streamID: UInt32, headerBlock: [UInt8], endStream: Bool) -> Bool {
        guard connection.failure == nil, let slot = streams.find(streamID), !streams[slot].isLingering,
            !streams[slot].isEnding, !streams[slot].isHeld
        else { return false }
        var block = headerBlock
        if owesSizeUpdate {
            // A client that made its table smaller waits for this (RFC 7541 §4.2). At 0 it can become no smaller.
            block.insert(0x20, at: 0)
            owesSizeUpdate = false
        }
        connection.output.appendHeaders(
            block, streamID: streamID, endStream: endStream, maxFrameSize: connection.frameSizeForData)
        streams[slot].isEnding = endStream
        if endStream { finishIfOver(slot) }
        return true
    }

    /// Sends a part of an answer's body, as far as flow control lets it; the rest follows by itself.
    ///
    /// - Returns: false when the stream is no longer open or has ended; nothing is sent then.
    @discardableResult
    package mutating func sendData(streamID: UInt32, _ body: [UInt8], endStream: Bool) -> Bool {
        guard connection.failure == nil, let slot = streams.find(streamID), !streams[slot].isLingering,
            !streams[slot].isEnding
        else { return false }
        let isWritten = connection.send(
            body, 0..<body.count, on: streamID, endStream: endStream, window: &streams[slot].sendWindow,
            isHeld: streams[slot].isHeld)
        streams[slot].isHeld = !isWritten
        streams[slot].isEnding = endStream
        if endStream { finishIfOver(slot) }
        return true
    }

    /// Ends a stream without an answer: RST_STREAM. Further frames of the stream are ignored.
    ///
    /// - Returns: false when it is not open.
    @discardableResult
    package mutating func reset(streamID: UInt32, code: HTTP2ErrorCode) -> Bool {
        guard connection.failure == nil, let slot = streams.find(streamID), !streams[slot].isLingering else {
            return false
        }
        abandon(slot, code)
        return true
    }

    /// Resets requests that are still arriving, and were not answered, of streams up to `streamID`. The driver calls it
    /// when those have had their time.
    ///
    /// - Returns: how many there were.
    package mutating func resetUnfinished(upTo streamID: UInt32, code: HTTP2ErrorCode) -> Int {
        guard connection.failure == nil else { return 0 }
        var count = 0
        for slot in streams.openSlots() where streams[slot].id <= streamID && streams[slot].phase == .receiving {
            abandon(slot, code)
            count += 1
        }
        return count
    }

    // MARK: Ends

    /// RST_STREAM from us.
    mutating func abandon(_ slot: Int, _ code: HTTP2ErrorCode) {
        connection.output.appendResetStream(streams[slot].id, code)
        releaseParts(slot)
        streams.linger(at: slot)
    }

    /// Our end may have been written just now. A request that is still arriving goes on, unheard, until its own end.
    mutating func finishIfOver(_ slot: Int) {
        guard streams[slot].isOver else { return }
        connection.budget.earn()
        if streams[slot].phase == .received {
            streams.remove(at: slot)
        } else if takesNoMore {
            abandon(slot, .noError)
        } else {
            releaseParts(slot)
            streams[slot].phase = .discarding
            resetIfTooMuch(slot)
        }
    }

    /// A client that goes on and on with a body nobody wants is told to stop (RFC 9113 §8.1).
    mutating func resetIfTooMuch(_ slot: Int) {
        if streams[slot].isOver, Int(streams[slot].discarded) > connection.limits.maxDiscardedBody {
            abandon(slot, .noError)
        }
    }

    /// Frees the parts of a stream beside its slot.
    mutating func releaseParts(_ slot: Int) {
        let stream = streams[slot]
        if stream.request >= 0 {
            connection.release(requests[stream.request].cost)
            requests[stream.request].reset()
            requests.release(stream.request)
            streams[slot].request = -1
        }
        if stream.isHeld { connection.held.drop(stream.id) }
    }

    mutating func flush(only streamID: UInt32?) {
        guard !connection.held.isEmpty else { return }
        for streamID in connection.flush(&streams, only: streamID) {
            guard let slot = streams.find(streamID), !streams[slot].isLingering else { continue }
            streams[slot].isHeld = false
            finishIfOver(slot)
        }
    }
}
