/// An error code of RFC 9113 §7. Open: a code we do not know is kept as it came.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2ErrorCode(rawValue: 0x0)
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    package static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    package static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    package static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    package static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    /// The request was not processed: it may be sent again.
    package static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    package static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    package static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    package static let connectError = HTTP2ErrorCode(rawValue: 0xa)
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xb)
    package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xc)
    package static let http11Required = HTTP2ErrorCode(rawValue: 0xd)
}

extension HTTP2ErrorCode: CustomStringConvertible {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    package var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}

/// The reason why we end a connection (or, inside the session, a stream): the peer's violation, and the code it is
/// told.
package struct HTTP2Error: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: HTTP2ErrorCode
    /// The violation in words, for people. Never contains header values or bodies.
    package let what: String

    package init(_ code: HTTP2ErrorCode, _ what: String) {
        self.code = code
        self.what = what
    }

    package var description: String { "\(code): \(what)" }
}
