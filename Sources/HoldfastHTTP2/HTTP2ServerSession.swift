package import NIOCore

/// The server's end of an HTTP/2 connection as a pure machine: bytes in, requests and bytes out. Driven like
/// ``HTTP2ClientSession``.
package struct HTTP2ServerSession: Sendable, HTTP2Session {
    var connection: HTTP2Connection
    var streams: StreamRing<ServerStream>
    var requests = Slab<PartialRequest>()
    /// The header block that was decoded last.
    var arriving = HeaderList()
    /// The bytes of the client's preface that have arrived.
    private var prefaceCount = 0
    /// The highest stream the client has opened.
    package internal(set) var lastStreamID: UInt32 = 0
    /// The last stream that our GOAWAY named; later ones are ignored.
    var lastProcessedStreamID: UInt32?
    /// Whether ``takeNoMore()`` was called.
    private(set) var takesNoMore = false

    /// The client made the dynamic table of our header blocks, which we do not use, smaller.
    var owesSizeUpdate = false

    /// Creates the session of an accepted connection. ``output`` begins with our SETTINGS.
    ///
    /// - Parameters:
    ///   - headerTableSize: the bytes that the client's HPACK encoder may keep in our dynamic table.
    ///   - names: names of header fields that are told apart by number: ``HeaderList/Field/number``.
    package init(limits: HTTP2Limits = .server, headerTableSize: Int = 4096, names: HeaderNames = .none) {
        connection = HTTP2Connection(.server, limits: limits, names: names)
        // Thousands of clients may be connected and idle; it grows with the open streams.
        streams = StreamRing(capacity: 8, maxCapacity: max(1024, 4 * min(limits.maxConcurrentStreams, 1 << 20)))
        var settings = HTTP2Settings()
        settings.headerTableSize = headerTableSize
        settings.maxConcurrentStreams = limits.maxConcurrentStreams
        settings.initialWindowSize = min(max(0, limits.streamReceiveWindow), FlowWindow.greatest)
        connection.announce(
            settings,
            [
                (SettingsParameter.headerTableSize, headerTableSize),
                (SettingsParameter.maxConcurrentStreams, limits.maxConcurrentStreams),
                (SettingsParameter.initialWindowSize, settings.initialWindowSize),
                (SettingsParameter.maxHeaderListSize, limits.maxHeaderBlock),
            ])
        connection.openReceiveWindow()
    }

    // MARK: Bytes for the peer

    /// Bytes to write, in order. (Settable, so that a server that is to misbehave can.)
    package var output: [UInt8] {
        _read { yield connection.output }
        _modify { yield &connection.output }
    }

    package var hasOutput: Bool { !connection.output.isEmpty }

    /// Takes the bytes to write, and their memory with them.
    package mutating func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &connection.output)
        return taken
    }

    /// Appends the bytes to write to `buffer`, and keeps the memory for the next cycle.
    package mutating func drainOutput(into buffer: inout ByteBuffer) {
        buffer.writeBytes(connection.output)
        connection.output.removeAll(keepingCapacity: true)
    }

    // MARK: State

    /// Streams that are open: arriving, waiting for their answer, or with an answer that flow control holds back.
    package var openStreams: Int { streams.count }

    /// Whether a request may still be answered.
    package func isOpen(_ streamID: UInt32) -> Bool {
        guard connection.failure == nil, let slot = streams.find(streamID) else { return false }
        return !streams[slot].isLingering && !streams[slot].isEnding
    }

    /// The size that the client allows the dynamic table of our header blocks.
    package var peerHeaderTableSize: Int { connection.peer.headerTableSize }

    /// Bytes of bodies that wait for the client's flow-control windows.
    package var heldBack: Int { connection.held.byteCount }

    /// Bytes of bodies that waited for those windows and have gone out.
    package var heldSent: Int { connection.held.sentCount }

    /// Bytes kept at the moment, for messages and frames in either direction: see ``HTTP2Limits/greatestHeld(chunk:body:)``.
    package var heldBytes: Int { connection.heldBytes }

    /// The connection error that ended the session, if one did.
    package var failure: HTTP2Error? { connection.failure }

    // MARK: Driving

    /// Takes bytes that arrived, split anywhere. Adds their events to `events`.
    package mutating func receive(_ bytes: Span<UInt8>, events: inout HTTP2ServerEvents) {
        guard connection.failure == nil else { return }
        var start = 0
        while prefaceCount < HTTP2ClientSession.preface.count, start < bytes.count {
            guard bytes[start] == HTTP2ClientSession.preface[prefaceCount] else {
                return fail(HTTP2Error(.protocolError, "no HTTP/2 preface"), &events)
            }
            start += 1
            prefaceCount += 1
        }
        receiveFrames(bytes, from: start, &events)
    }

    /// Bytes of requests that have begun and not ended, as ``HTTP2Limits/maxIncoming`` counts them.
    package var incomingByteCount: Int { connection.incoming }

    /// Changes our SETTINGS; nil leaves a value unchanged. A new stream limit applies at once (excess streams are
    /// refused, and may be sent again), the others once the client has acknowledged them.
    ///
    /// - Returns: false, having done nothing, while ``HTTP2Limits/maxPendingSettings`` wait for acknowledgement.
    @discardableResult
    package mutating func changeSettings(
        maxConcurrentStreams: Int? = nil, initialWindowSize: Int? = nil, headerTableSize: Int? = nil
    ) -> Bool {
        guard connection.failure == nil, connection.unacknowledged.count < HTTP2Limits.maxPendingSettings else {
            return false
        }
        var settings = connection.announced
        var parameters: [(UInt16, Int)] = []
        if let headerTableSize {
            settings.headerTableSize = headerTableSize
            parameters.append((SettingsParameter.headerTableSize, headerTableSize))
        }
        if let maxConcurrentStreams {
            settings.maxConcurrentStreams = maxConcurrentStreams
            parameters.append((SettingsParameter.maxConcurrentStreams, maxConcurrentStreams))
        }
        if let initialWindowSize {
            settings.initialWindowSize = min(max(0, initialWindowSize), FlowWindow.greatest)
            parameters.append((SettingsParameter.initialWindowSize, settings.initialWindowSize))
        }
        connection.announce(settings, parameters)
        return true
    }

    /// Sends PING; the answer is an event with the same `opaque`.
    package mutating func ping(_ opaque: UInt64) {
        guard connection.failure == nil else { return }
        connection.pingsOutstanding += 1
        connection.output.appendPing(opaque, isAck: false)
    }

    /// Sends GOAWAY. Streams above `lastStreamID` are ignored from now on, those open included: they were never
    /// processed. May be sent again with a lower number.
    ///
    /// - Parameter lastStreamID: nil for the highest the client has opened; 2^31-1 announces that another will follow.
    package mutating func goAway(
        lastStreamID: UInt32? = nil, code: HTTP2ErrorCode = .noError, debugData: [UInt8] = []
    ) {
        guard connection.failure == nil else { return }
        let last = min(lastStreamID ?? self.lastStreamID, lastProcessedStreamID ?? .max) & 0x7fff_ffff
        lastProcessedStreamID = last
        connection.output.appendGoAway(lastStreamID: last, code: code, debugData: debugData)
        for slot in streams.openSlots() where streams[slot].id > last {
            releaseParts(slot)
            streams.linger(at: slot)
        }
    }

    /// Takes no more requests. Unfinished ones are reset with REFUSED_STREAM, further streams ignored. Complete
    /// requests have to be answered; ``goAway(lastStreamID:code:debugData:)`` then names the last one. A client that
    /// has its answer need not go on with its request.
    package mutating func takeNoMore() {
        guard connection.failure == nil, !takesNoMore else { return }
        takesNoMore = true
        var last = lastStreamID
        for slot in streams.openSlots().reversed() {
            if streams[slot].phase == .receiving {
                // The last stream is the last accepted one.
                if streams[slot].id == last { last = last > 1 ? last - 2 : 0 }
                abandon(slot, .refusedStream)
            } else if streams[slot].isOver {
                abandon(slot, .noError)
            }
        }
        lastProcessedStreamID = min(last, lastProcessedStreamID ?? .max)
    }

    /// Grants the client a new budget of frames that move nothing and of resets, and resets with NO_ERROR the streams
    /// that were answered before their requests had ended and have not ended since (a client that has its answer may
    /// simply stop sending). The driver calls it at long intervals, and writes the output.
    package mutating func renewFrameBudget() {
        guard connection.failure == nil else { return }
        connection.budget.renew()
        for slot in streams.openSlots() where streams[slot].isOver { abandon(slot, .noError) }
    }
}
