public import Holdfast
import HoldfastAPNsAnswers

/// The status of an error response of the binary protocol, kept as it came: Apple may send values that are in no table.
package struct BinaryStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let processingError = BinaryStatus(rawValue: 1)
    package static let missingToken = BinaryStatus(rawValue: 2)
    package static let missingTopic = BinaryStatus(rawValue: 3)
    package static let missingPayload = BinaryStatus(rawValue: 4)
    package static let invalidTokenSize = BinaryStatus(rawValue: 5)
    package static let invalidTopicSize = BinaryStatus(rawValue: 6)
    package static let invalidPayloadSize = BinaryStatus(rawValue: 7)
    package static let invalidToken = BinaryStatus(rawValue: 8)
    /// Not a failure: the service shuts down, and names the last notification that it took.
    package static let shutdown = BinaryStatus(rawValue: 10)
    /// Never documented; seen for a frame of command 2 with invalid items.
    package static let invalidFrameItem = BinaryStatus(rawValue: 128)
    package static let unknown = BinaryStatus(rawValue: 255)
}

extension SendResult {
    /// Classifies the status of an error response of the binary protocol.
    ///
    /// A pure function of the status, also for senders of yours, through ``SenderConnector``. 2 and 5 reject the token
    /// as malformed. 8 makes the token a suspect only, because it may be bad or the environment may be wrong. 3, 4, 6
    /// and 7 reject the notification and leave its token alone. Every other status, unknown ones included, is taken for
    /// temporary: the notification is retried, and an attempt is counted.
    ///
    /// - Parameter binaryStatus: any but 10, which is no failure of the notification it names.
    public init(binaryStatus: UInt8) {
        let (verdict, reason): (Verdict, Reason) =
            switch BinaryStatus(rawValue: binaryStatus) {
            case .processingError: (.deferred(.token), .processingError)
            case .missingToken: (.rejected(.token), .missingDeviceToken)
            case .missingTopic: (.rejected(.notification), .missingTopic)
            case .missingPayload: (.rejected(.notification), .missingPayload)
            case .invalidTokenSize: (.rejected(.token), .invalidTokenSize)
            case .invalidTopicSize: (.rejected(.notification), .invalidTopicSize)
            case .invalidPayloadSize: (.rejected(.notification), .invalidPayloadSize)
            case .invalidToken: (.rejected(.suspectToken), .invalidToken)
            case .invalidFrameItem: (.deferred(.token), .invalidFrameItem)
            case .unknown: (.deferred(.token), .unknownError)
            default: (.deferred(.token), Reason(rawValue: "Status\(binaryStatus)"))
            }
        self.init(verdict, reason: reason, detail: "the service answered status \(binaryStatus)")
    }
}
