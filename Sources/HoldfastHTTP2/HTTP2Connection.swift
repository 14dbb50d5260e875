/// The state common to both roles: the bytes in and out, SETTINGS, the connection's flow control, HPACK decoding, the
/// limits.
struct HTTP2Connection: Sendable {
    enum Role: Sendable { case client, server }

    let role: Role
    let limits: HTTP2Limits

    /// Frames for the peer, not yet taken by the driver.
    var output: [UInt8] = []
    /// The beginning of a frame whose rest has not arrived.
    var partial: [UInt8] = []
    /// Set by the first connection error; nothing is received after it.
    var failure: HTTP2Error?

    /// The settings that the peer has announced.
    var peer = HTTP2Settings()
    var hasPeerSettings = false
    /// The settings that we announced and the peer acknowledged, which it has to obey.
    var local = HTTP2Settings()
    /// The settings that we announced last.
    var announced = HTTP2Settings()
    /// The settings that we announced and the peer has not acknowledged, oldest first.
    var unacknowledged: [HTTP2Settings] = []
    var pingsOutstanding = 0

    var sendWindow = FlowWindow()
    var receiveWindow = ReceiveWindow(full: FlowWindow.initial)
    var held = HeldData()

    var block = HeaderBlock()
    var budget = FrameBudget()
    private var reader: HPACKReader

    init(_ role: Role, limits: HTTP2Limits, names: HeaderNames = .none) {
        self.role = role
        self.limits = limits
        reader = HPACKReader(tableSize: local.headerTableSize, maxListSize: limits.maxHeaderBlock, names: names)
    }

    /// Bytes of messages that have begun to arrive and are not complete.
    private(set) var incoming = 0

    /// Keeps bytes of a message that is not complete.
    @inline(__always)
    mutating func keep(_ count: Int) throws(HTTP2Error) {
        incoming += count
        guard incoming <= limits.maxIncoming else {
            throw HTTP2Error(.enhanceYourCalm, "more than \(limits.maxIncoming) bytes of messages that do not end")
        }
    }

    /// The message is complete, or not wanted any more.
    @inline(__always)
    mutating func release(_ count: Int) { incoming -= count }

    /// The memory of a message's header fields: their bytes, and the overhead of each.
    @inline(__always)
    static func cost(_ block: Span<UInt8>, fields: Int) -> Int { block.count + 64 * fields }

    /// Bytes that are kept at the moment, for messages and frames in either direction.
    var heldBytes: Int { output.count + partial.count + block.byteCount + held.storedBytes + incoming }

    /// Whether header blocks we receive neither use nor change a dynamic table, so that they may be left undecoded.
    @inline(__always) var isStateless: Bool { local.headerTableSize == 0 }

    /// Whether the driver left so much output that nothing may be added.
    @inline(__always) var isOutputFull: Bool { output.count >= limits.maxQueuedOutput }

    /// Opens the connection's receive window as wide as the limits say. Called once, behind the first SETTINGS.
    mutating func openReceiveWindow() {
        let increment = limits.connectionReceiveWindow - FlowWindow.initial
        guard increment > 0, increment <= FlowWindow.greatest - FlowWindow.initial else { return }
        output.appendWindowUpdate(0, by: increment)
        receiveWindow = ReceiveWindow(full: limits.connectionReceiveWindow)
    }

    /// Writes SETTINGS. They bind the peer once it has acknowledged them.
    mutating func announce(_ settings: HTTP2Settings, _ parameters: [(UInt16, Int)]) {
        output.appendSettings(parameters)
        unacknowledged.append(settings)
        announced = settings
    }

    /// Decodes one header block. Must be given every block in order unless ``isStateless``.
    ///
    /// - Parameter list: empty.
    @inline(__always)
    mutating func decode(_ block: Span<UInt8>, into list: inout HeaderList) throws(HTTP2Error) {
        do throws(HPACKReader.Failure) {
            try reader.read(block, into: &list)
        } catch {
            switch error {
            case .listTooLong:
                throw HTTP2Error(.enhanceYourCalm, "a header list of more than \(limits.maxHeaderBlock) bytes")
            case .malformed:
                throw HTTP2Error(.compressionError, "a header block that cannot be decoded")
            }
        }
    }

    /// Our oldest SETTINGS now bind the peer.
    ///
    /// - Returns: by how much the receive windows of open streams change; nil when nothing was to be acknowledged.
    mutating func settingsAcknowledged() -> HTTP2Settings? {
        guard !unacknowledged.isEmpty else { return nil }
        local = unacknowledged.removeFirst()
        reader.tableSize = local.headerTableSize
        return local
    }

    /// Takes flow-controlled bytes off the connection's receive window, and opens it again when half is used.
    @inline(__always)
    mutating func receiveData(_ count: Int) throws(HTTP2Error) {
        guard receiveWindow.receive(count) else {
            throw HTTP2Error(.flowControlError, "more DATA than the connection's window allows")
        }
        let increment = receiveWindow.replenish()
        if increment > 0 { output.appendWindowUpdate(0, by: increment) }
    }

    /// Writes a body as far as the windows allow, and holds the rest.
    ///
    /// - Parameter isHeld: whether some of the stream's DATA is held already; this goes behind it.
    /// - Returns: whether all of it was written.
    @inline(__always)
    mutating func send(
        _ body: [UInt8], _ range: Range<Int>, on streamID: UInt32, endStream: Bool, window: inout FlowWindow,
        isHeld: Bool
    ) -> Bool {
        let allowed = isHeld ? 0 : min(range.count, sendWindow.available, window.available)
        if allowed == range.count, !isHeld {
            sendWindow.use(allowed)
            window.use(allowed)
            output.appendData(
                body, range, streamID: streamID, endStream: endStream, maxFrameSize: frameSizeForData)
            return true
        }
        if allowed > 0 {
            sendWindow.use(allowed)
            window.use(allowed)
            output.appendData(
                body, range.lowerBound..<range.lowerBound + allowed, streamID: streamID, endStream: false,
                maxFrameSize: frameSizeForData)
        }
        held.hold(
            body[(range.lowerBound + allowed)..<range.upperBound], for: streamID, endsStream: endStream,
            isHeld: isHeld)
        return false
    }

    /// Frames larger than this are never worth it.
    @inline(__always) var frameSizeForData: Int { min(peer.maxFrameSize, 1 << 16) }

    /// Writes a GOAWAY and takes note that the connection is over.
    mutating func fail(_ error: HTTP2Error, lastStreamID: UInt32) {
        failure = error
        partial = []
        _ = block.end()
        output.appendGoAway(lastStreamID: lastStreamID, code: error.code, debugData: Array(error.what.utf8))
    }
}
