/// SETTINGS parameters of RFC 9113 §6.5.2.
enum SettingsParameter {
    static let headerTableSize: UInt16 = 1
    static let enablePush: UInt16 = 2
    static let maxConcurrentStreams: UInt16 = 3
    static let initialWindowSize: UInt16 = 4
    static let maxFrameSize: UInt16 = 5
    static let maxHeaderListSize: UInt16 = 6
}

/// The settings that one side has announced, or the protocol's defaults.
struct HTTP2Settings: Equatable {
    var headerTableSize = 4096
    /// nil: no limit announced.
    var maxConcurrentStreams: Int?
    var initialWindowSize = FlowWindow.initial
    var maxFrameSize = 16384
    var maxHeaderListSize: Int?

    /// Takes over one frame's parameters; unknown ones are ignored.
    ///
    /// - Parameter isFromServer: which of the two sends them; ENABLE_PUSH differs.
    mutating func apply(_ payload: Span<UInt8>, isFromServer: Bool) throws(HTTP2Error) {
        var offset = 0
        while offset + 6 <= payload.count {
            let value = payload.bigEndian32(at: offset + 2)
            switch payload.bigEndian16(at: offset) {
            case SettingsParameter.headerTableSize:
                headerTableSize = Int(value)
            case SettingsParameter.enablePush:
                guard value == 0 || (value == 1 && !isFromServer) else {
                    throw HTTP2Error(.protocolError, "SETTINGS_ENABLE_PUSH of \(value)")
                }
            case SettingsParameter.maxConcurrentStreams:
                maxConcurrentStreams = Int(value)
            case SettingsParameter.initialWindowSize:
                guard Int(value) <= FlowWindow.greatest else {
                    throw HTTP2Error(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE of \(value)")
                }
                initialWindowSize = Int(value)
            case SettingsParameter.maxFrameSize:
                guard (16384...16_777_215).contains(value) else {
                    throw HTTP2Error(.protocolError, "SETTINGS_MAX_FRAME_SIZE of \(value)")
                }
                maxFrameSize = Int(value)
            case SettingsParameter.maxHeaderListSize:
                maxHeaderListSize = Int(value)
            default:
                break
            }
            offset += 6
        }
    }
}

extension [UInt8] {
    mutating func appendSettings(_ parameters: [(UInt16, Int)]) {
        appendFrameHeader(length: parameters.count * 6, type: FrameType.settings, flags: 0, streamID: 0)
        for (parameter, value) in parameters {
            appendBigEndian(parameter)
            appendBigEndian(UInt32(clamping: value))
        }
    }

    mutating func appendSettingsAck() {
        appendFrameHeader(length: 0, type: FrameType.settings, flags: FrameFlags.ack, streamID: 0)
    }
}
