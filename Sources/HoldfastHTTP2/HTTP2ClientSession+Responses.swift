// MARK: Frames of streams

extension HTTP2ClientSession {
    @inline(__always)
    mutating func receiveHeaders(
        _ streamID: UInt32, endStream: Bool, _ block: Span<UInt8>, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard let slot = streams.find(streamID), streams[slot].phase == .waiting, connection.isStateless,
            !decodesSuccesses, Self.isStatus200(block)
        else { return try receiveOtherHeaders(streamID, endStream: endStream, block, &events) }
        if endStream {
            succeed(slot, &events)
        } else {
            let index = responses.take(PartialResponse())
            responses[index].block.append(copying: block)
            responses[index].cost = block.count
            streams[slot].response = index
            streams[slot].phase = .success
            streams[slot].hasAnswered = true
            try connection.keep(block.count)
        }
    }

    /// Whether a block begins with the static table's `:status: 200`, after size updates that leave an empty table
    /// empty. Without a dynamic table the rest of such a block need not be decoded.
    @inline(__always)
    private static func isStatus200(_ block: Span<UInt8>) -> Bool {
        var start = 0
        while start < min(2, block.count), block[start] == 0x20 { start &+= 1 }
        return start < block.count && block[start] == 0x88
    }

    @inline(__always)
    private mutating func succeed(_ slot: Int, _ events: inout HTTP2ClientEvents) {
        events.succeeded.append(streams[slot].tag)
        connection.budget.earn()
        finish(slot)
    }

    private mutating func receiveOtherHeaders(
        _ streamID: UInt32, endStream: Bool, _ block: Span<UInt8>, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        var headers = HeaderList()
        try connection.decode(block, into: &headers)
        guard let slot = try openSlot(streamID, "HEADERS") else { return }
        switch streams[slot].phase {
        case .waiting:
            try begin(slot, headers, HTTP2Connection.cost(block, fields: headers.count), endStream: endStream, &events)
        case .success, .responding:
            guard endStream, MessageRules.areTrailers(headers) else {
                return reset(slot, .protocolError, &events)
            }
            try complete(slot, &events)
        case .lingering:
            break
        }
    }

    mutating func receiveData(
        _ streamID: UInt32, endStream: Bool, _ content: Span<UInt8>, flowCount: Int, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard let slot = try openSlot(streamID, "DATA") else { return }
        guard streams[slot].receiveWindow.receive(flowCount) else { return reset(slot, .flowControlError, &events) }
        guard streams[slot].phase != .waiting else { return reset(slot, .protocolError, &events) }
        if !content.isEmpty {
            if streams[slot].phase == .success { try decodeSuccess(slot) }
            guard try keep(content, of: slot) else { return truncate(slot, &events) }
        }
        if endStream {
            try complete(slot, &events)
        } else {
            let increment = streams[slot].receiveWindow.replenish()
            if increment > 0 { connection.output.appendWindowUpdate(streamID, by: increment) }
        }
    }

    /// The slot of an open stream. Frames for streams that we reset, or that are otherwise over in a way the peer could
    /// not know, are dropped (nil).
    private mutating func openSlot(_ streamID: UInt32, _ frame: String) throws(HTTP2Error) -> Int? {
        if let slot = streams.find(streamID) {
            if !streams[slot].isLingering { return slot }
        } else {
            try checkNotIdle(streamID, frame)
            guard streamID <= streams.forgottenResets else {
                throw HTTP2Error(.streamClosed, "\(frame) on a closed stream")
            }
        }
        try connection.budget.spendFrame(connection.limits)
        return nil
    }

    private func checkNotIdle(_ streamID: UInt32, _ frame: String) throws(HTTP2Error) {
        guard streamID & 1 == 1, streamID < nextStreamID else {
            throw HTTP2Error(.protocolError, "\(frame) on a stream that was never opened")
        }
    }

    mutating func receiveReset(
        _ streamID: UInt32, _ code: HTTP2ErrorCode, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard let slot = streams.find(streamID), !streams[slot].isLingering else {
            try checkNotIdle(streamID, "RST_STREAM")
            return try connection.budget.spendFrame(connection.limits)
        }
        events.others.append(
            .reset(
                tag: streams[slot].tag, code: code, byPeer: true, hasAnswered: streams[slot].hasAnswered))
        releaseParts(slot)
        streams.remove(at: slot)
    }

    mutating func receiveWindowUpdate(
        _ streamID: UInt32, _ increment: Int, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard let slot = streams.find(streamID), !streams[slot].isLingering else {
            return try checkNotIdle(streamID, "WINDOW_UPDATE")
        }
        guard increment > 0 else { return reset(slot, .protocolError, &events) }
        guard streams[slot].sendWindow.change(by: increment) else { return reset(slot, .flowControlError, &events) }
        if !streams[slot].isSent { flush(only: streamID) }
    }

    mutating func receivePriority(
        _ streamID: UInt32, isWellFormed: Bool, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard !isWellFormed, let slot = streams.find(streamID), !streams[slot].isLingering else { return }
        reset(slot, .frameSizeError, &events)
    }
}

// MARK: Responses

extension HTTP2ClientSession {
    /// Takes a response's first header block, or an informational one.
    private mutating func begin(
        _ slot: Int, _ headers: HeaderList, _ cost: Int, endStream: Bool, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        guard let head = MessageRules.responseHead(headers), head.status >= 200 || (!endStream && head.status != 101)
        else { return reset(slot, .protocolError, &events) }
        streams[slot].hasAnswered = true
        guard head.status >= 200 else { return try connection.budget.spendFrame(connection.limits) }
        let index = responses.take(PartialResponse())
        responses[index].response.status = head.status
        responses[index].response.headers = headers[0..<headers.count]
        responses[index].contentLength = head.contentLength
        responses[index].cost = cost
        streams[slot].response = index
        streams[slot].phase = .responding
        try connection.keep(cost)
        if endStream { try complete(slot, &events) }
    }

    /// A 200 turns out to have a body: now its header fields are wanted.
    private mutating func decodeSuccess(_ slot: Int) throws(HTTP2Error) {
        let index = streams[slot].response
        var block: [UInt8] = []
        swap(&block, &responses[index].block)
        var headers = HeaderList()
        try connection.decode(block.span, into: &headers)
        let more = 64 * headers.count
        responses[index].cost += more
        responses[index].response.headers = headers[0..<headers.count]
        responses[index].response.status = 200
        try connection.keep(more)
        streams[slot].phase = .responding
    }

    /// - Returns: false when the body is longer than the bound; as much as fits is kept.
    private mutating func keep(_ content: Span<UInt8>, of slot: Int) throws(HTTP2Error) -> Bool {
        let index = streams[slot].response
        let room = connection.limits.maxBodySize - responses[index].response.body.count
        let kept = max(0, min(room, content.count))
        responses[index].response.body.append(copying: content.extracting(0..<kept))
        responses[index].cost += kept
        try connection.keep(kept)
        return content.count <= room
    }

    /// The stream has ended. A length other than announced makes the response malformed (RFC 9113 §8.1.1); a response
    /// without a body is accepted, though it announces a length.
    private mutating func complete(_ slot: Int, _ events: inout HTTP2ClientEvents) throws(HTTP2Error) {
        if streams[slot].phase == .success { return succeed(slot, &events) }
        let part = responses[streams[slot].response]
        let count = part.response.body.count
        guard count == 0 || part.contentLength == nil || part.contentLength == count else {
            return reset(slot, .protocolError, &events)
        }
        connection.budget.earn()
        if part.response.status == 200, count == 0, !decodesSuccesses {
            events.succeeded.append(streams[slot].tag)
        } else {
            events.others.append(.response(tag: streams[slot].tag, part.response))
        }
        finish(slot)
    }

    /// The body is longer than we keep. The status is known, so the answer counts; the rest is not wanted.
    private mutating func truncate(_ slot: Int, _ events: inout HTTP2ClientEvents) {
        var response = responses[streams[slot].response].response
        response.isTruncated = true
        events.others.append(.response(tag: streams[slot].tag, response))
        connection.budget.earn()
        abandon(slot, .cancel)
    }

    /// A stream error: the peer's fault, on one stream.
    private mutating func reset(_ slot: Int, _ code: HTTP2ErrorCode, _ events: inout HTTP2ClientEvents) {
        events.others.append(
            .reset(
                tag: streams[slot].tag, code: code, byPeer: false, hasAnswered: streams[slot].hasAnswered))
        abandon(slot, code)
    }
}

// MARK: Frames of the connection

extension HTTP2ClientSession {
    mutating func receiveSettings(
        replacing old: HTTP2Settings, _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        let peer = connection.peer
        if peer.initialWindowSize != old.initialWindowSize {
            try connection.budget.spendFrame(connection.limits, lookingAt: streams.slots.count)
            try streams.changeSendWindows(by: peer.initialWindowSize - old.initialWindowSize)
        }
        streamLimit = min(connection.limits.maxConcurrentStreams, peer.maxConcurrentStreams ?? .max)
        guard
            !connection.hasPeerSettings || peer.maxConcurrentStreams != old.maxConcurrentStreams
                || peer.headerTableSize != old.headerTableSize
        else { return }
        events.others.append(
            .settingsChanged(
                maxConcurrentStreams: peer.maxConcurrentStreams ?? .max, headerTableSize: peer.headerTableSize))
    }

    mutating func receiveSettingsAck(replacing old: HTTP2Settings, _ events: inout HTTP2ClientEvents) {
        if connection.local.initialWindowSize != old.initialWindowSize {
            streams.resizeReceiveWindows(to: connection.local.initialWindowSize, &connection.output)
        }
    }

    mutating func receivePong(_ opaque: UInt64, _ events: inout HTTP2ClientEvents) {
        events.others.append(.pong(opaque))
    }

    mutating func receiveGoAway(
        _ lastStreamID: UInt32, _ code: HTTP2ErrorCode, _ debugData: [UInt8], _ events: inout HTTP2ClientEvents
    ) throws(HTTP2Error) {
        let last = min(lastStreamID, lastStreamOfGoAway ?? .max)
        var neverProcessed: [UInt64] = []
        // A GOAWAY that takes nothing back needs no search: no request has started since the one before.
        if last != lastStreamOfGoAway {
            if lastStreamOfGoAway != nil {
                try connection.budget.spendFrame(connection.limits, lookingAt: streams.slots.count)
            }
            for slot in streams.openSlots() where streams[slot].id > last && !streams[slot].hasAnswered {
                neverProcessed.append(streams[slot].tag)
                releaseParts(slot)
                streams.linger(at: slot)
            }
        }
        lastStreamOfGoAway = last
        events.others.append(
            .goAway(HTTP2GoAway(lastStreamID: last, code: code, debugData: debugData, neverProcessed: neverProcessed)))
    }

    mutating func fail(_ error: HTTP2Error, _ events: inout HTTP2ClientEvents) {
        connection.fail(error, lastStreamID: 0)
        events.others.append(.connectionError(error))
    }
}
