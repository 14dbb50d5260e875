// MARK: Frames of streams

extension HTTP2ServerSession {
    mutating func receiveHeaders(
        _ streamID: UInt32, endStream: Bool, _ block: Span<UInt8>, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        // Every block is decoded, whatever becomes of its stream: the next one builds on its dynamic table.
        if !arriving.isEmpty { arriving.removeAll(keeping: PartialRequest.kept) }
        try connection.decode(block, into: &arriving)
        if streamID > lastStreamID {
            guard streamID & 1 == 1 else { throw HTTP2Error(.protocolError, "a client opened stream \(streamID)") }
            lastStreamID = streamID
            return try open(
                streamID, HTTP2Connection.cost(block, fields: arriving.count), endStream: endStream, &events)
        }
        guard let slot = try openSlot(streamID, "HEADERS") else { return }
        guard streams[slot].phase != .received else {
            throw HTTP2Error(.streamClosed, "HEADERS behind the end of a stream")
        }
        guard endStream, MessageRules.areTrailers(arriving) else {
            return try reset(streamID, slot, .protocolError, &events)
        }
        try complete(slot, Span<UInt8>(), &events)
    }

    /// A request whose fields are in ``arriving``.
    private mutating func open(
        _ streamID: UInt32, _ cost: Int, endStream: Bool, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        if let last = lastProcessedStreamID, streamID > last {
            return try connection.budget.spendFrame(connection.limits)
        }
        let limit = connection.announced.maxConcurrentStreams ?? .max
        guard streams.count < limit else { return try refuse(streamID) }
        // One that waits long for its answer is not in the way of those that come and go.
        if !streams.makeRoom(for: streamID) { streams.displace(for: streamID) }
        streams.insert(
            ServerStream(
                id: streamID, phase: .receiving, sendWindow: FlowWindow(connection.peer.initialWindowSize),
                receiveWindow: ReceiveWindow(full: connection.local.initialWindowSize)))
        let slot = streams.slot(of: streamID)
        guard let head = MessageRules.requestHead(arriving) else {
            return try reset(streamID, slot, .protocolError, &events)
        }
        guard !endStream || (head.contentLength ?? 0) == 0 else {
            return try reset(streamID, slot, .protocolError, &events)
        }
        if endStream {
            report(slot, events.headers.append(arriving), 0, isTruncated: false, &events)
        } else {
            let index = requests.take(PartialRequest())
            // Each has the other's memory from now on.
            swap(&requests[index].headers, &arriving)
            requests[index].contentLength = head.contentLength
            requests[index].cost = cost
            streams[slot].request = index
            try connection.keep(cost)
        }
    }

    /// Too many streams. Nothing was processed, and the client is told so.
    private mutating func refuse(_ streamID: UInt32) throws(HTTP2Error) {
        connection.output.appendResetStream(streamID, .refusedStream)
        if streams.isVacant(streamID) {
            streams.insert(.lingering(streamID))
            streams.linger(at: streams.slot(of: streamID))
        } else {
            streams.forgetReset(streamID)
        }
        try connection.budget.spendReset(connection.limits)
    }

    mutating func receiveData(
        _ streamID: UInt32, endStream: Bool, _ content: Span<UInt8>, flowCount: Int, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        guard let slot = try openSlot(streamID, "DATA") else { return }
        guard streams[slot].phase != .received else {
            throw HTTP2Error(.streamClosed, "DATA behind the end of a stream")
        }
        guard streams[slot].receiveWindow.receive(flowCount) else {
            return try reset(streamID, slot, .flowControlError, &events)
        }
        if endStream { return try complete(slot, content, &events) }
        if streams[slot].phase == .receiving {
            try keep(content, slot, &events)
        } else {
            streams[slot].discarded = Int32(clamping: Int(streams[slot].discarded) + content.count)
            // The window is not opened beyond the limit; without an answer the client waits, with one it is reset.
            guard Int(streams[slot].discarded) <= connection.limits.maxDiscardedBody else {
                return resetIfTooMuch(slot)
            }
        }
        let increment = streams[slot].receiveWindow.replenish()
        if increment > 0 { connection.output.appendWindowUpdate(streamID, by: increment) }
    }

    /// Keeps a part of a body; bytes beyond the limit end the keeping, and the request is reported as it is.
    private mutating func keep(
        _ content: Span<UInt8>, _ slot: Int, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        let index = streams[slot].request
        let room = connection.limits.maxBodySize - requests[index].body.count
        let kept = max(0, min(room, content.count))
        requests[index].body.append(copying: content.extracting(0..<kept))
        requests[index].cost += kept
        try connection.keep(kept)
        guard content.count > room else { return }
        streams[slot].phase = .discarding
        reportParts(slot, Span<UInt8>(), isTruncated: true, &events)
    }

    /// The stream's end. `content` is the last of its body.
    private mutating func complete(
        _ slot: Int, _ content: Span<UInt8>, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        let streamID = streams[slot].id
        guard streams[slot].phase == .receiving else {
            streams[slot].phase = .received
            if streams[slot].isOver { streams.remove(at: slot) }
            return
        }
        let index = streams[slot].request
        let count = requests[index].body.count + content.count
        if let promised = requests[index].contentLength, promised != count {
            return try reset(streamID, slot, .protocolError, &events)
        }
        streams[slot].phase = .received
        let room = connection.limits.maxBodySize - requests[index].body.count
        let kept = content.extracting(0..<max(0, min(room, content.count)))
        reportParts(slot, kept, isTruncated: content.count > room, &events)
    }

    private mutating func reportParts(
        _ slot: Int, _ last: Span<UInt8>, isTruncated: Bool, _ events: inout HTTP2ServerEvents
    ) {
        let index = streams[slot].request
        let start = events.bodies.count
        connection.release(requests[index].cost)
        let fields = requests[index].move(to: &events)
        events.bodies.append(copying: last)
        requests.release(index)
        streams[slot].request = -1
        report(slot, fields, events.bodies.count - start, isTruncated: isTruncated, &events)
    }

    /// Reports a request whose body is the last `bodyCount` bytes of the events' bodies.
    private mutating func report(
        _ slot: Int, _ fields: Range<Int>, _ bodyCount: Int, isTruncated: Bool, _ events: inout HTTP2ServerEvents
    ) {
        if !isTruncated { streams[slot].phase = .received }
        let end = events.bodies.count
        events.requests.append(
            HTTP2ServerEvents.Request(
                streamID: streams[slot].id, fields: fields, body: end - bodyCount..<end, isTruncated: isTruncated))
        connection.budget.earnFrames()
    }

    private mutating func openSlot(_ streamID: UInt32, _ frame: String) throws(HTTP2Error) -> Int? {
        if let slot = streams.find(streamID) {
            if !streams[slot].isLingering { return slot }
        } else {
            try checkNotIdle(streamID, frame)
            guard streamID <= streams.forgottenResets || isIgnored(streamID) else {
                throw HTTP2Error(.streamClosed, "\(frame) on a closed stream")
            }
        }
        try connection.budget.spendFrame(connection.limits)
        return nil
    }

    /// Above the last stream of our GOAWAY.
    private func isIgnored(_ streamID: UInt32) -> Bool {
        guard let last = lastProcessedStreamID else { return false }
        return streamID > last
    }

    private func checkNotIdle(_ streamID: UInt32, _ frame: String) throws(HTTP2Error) {
        guard streamID & 1 == 1, streamID <= lastStreamID else {
            throw HTTP2Error(.protocolError, "\(frame) on a stream that was never opened")
        }
    }

    mutating func receiveReset(
        _ streamID: UInt32, _ code: HTTP2ErrorCode, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        guard let slot = streams.find(streamID), !streams[slot].isLingering else {
            try checkNotIdle(streamID, "RST_STREAM")
            return try connection.budget.spendFrame(connection.limits)
        }
        events.others.append(.reset(streamID: streamID, code: code, byPeer: true))
        releaseParts(slot)
        streams.remove(at: slot)
        try connection.budget.spendReset(connection.limits)
    }

    mutating func receiveWindowUpdate(
        _ streamID: UInt32, _ increment: Int, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        guard let slot = streams.find(streamID), !streams[slot].isLingering else {
            return try checkNotIdle(streamID, "WINDOW_UPDATE")
        }
        guard increment > 0 else { return try reset(streamID, slot, .protocolError, &events) }
        guard streams[slot].sendWindow.change(by: increment) else {
            return try reset(streamID, slot, .flowControlError, &events)
        }
        if streams[slot].isHeld { flush(only: streamID) }
    }

    mutating func receivePriority(
        _ streamID: UInt32, isWellFormed: Bool, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        guard !isWellFormed, let slot = streams.find(streamID), !streams[slot].isLingering else { return }
        try reset(streamID, slot, .frameSizeError, &events)
    }

    /// A stream error: the client's fault, on one stream. It counts like a reset by the client, or a client could make
    /// us start and drop requests without end.
    private mutating func reset(
        _ streamID: UInt32, _ slot: Int, _ code: HTTP2ErrorCode, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        events.others.append(.reset(streamID: streamID, code: code, byPeer: false))
        abandon(slot, code)
        try connection.budget.spendReset(connection.limits)
    }
}

// MARK: Frames of the connection

extension HTTP2ServerSession {
    mutating func receiveSettings(
        replacing old: HTTP2Settings, _ events: inout HTTP2ServerEvents
    ) throws(HTTP2Error) {
        let peer = connection.peer
        if peer.initialWindowSize != old.initialWindowSize {
            try connection.budget.spendFrame(connection.limits, lookingAt: streams.slots.count)
            try streams.changeSendWindows(by: peer.initialWindowSize - old.initialWindowSize)
        }
        if peer.headerTableSize < old.headerTableSize { owesSizeUpdate = true }
        if !connection.hasPeerSettings || peer.headerTableSize != old.headerTableSize {
            events.others.append(.settingsChanged(headerTableSize: peer.headerTableSize))
        }
    }

    mutating func receiveSettingsAck(replacing old: HTTP2Settings, _ events: inout HTTP2ServerEvents) {
        if connection.local.initialWindowSize != old.initialWindowSize {
            streams.resizeReceiveWindows(to: connection.local.initialWindowSize, &connection.output)
        }
        events.others.append(.settingsAcknowledged)
    }

    mutating func receivePong(_ opaque: UInt64, _ events: inout HTTP2ServerEvents) {
        events.others.append(.pong(opaque))
    }

    mutating func receiveGoAway(
        _ lastStreamID: UInt32, _ code: HTTP2ErrorCode, _ debugData: [UInt8], _ events: inout HTTP2ServerEvents
    ) {
        events.others.append(.goAway(lastStreamID: lastStreamID, code: code, debugData: debugData))
    }

    mutating func fail(_ error: HTTP2Error, _ events: inout HTTP2ServerEvents) {
        connection.fail(error, lastStreamID: min(lastStreamID, lastProcessedStreamID ?? .max))
        events.others.append(.connectionError(error))
    }
}
