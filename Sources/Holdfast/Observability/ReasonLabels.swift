/// Words for labels and lines. A reason is whatever a service says, so there is a bound on how many are told apart, on
/// their length and on their characters: the rest is `other`.
///
/// A pure machine.
struct ReasonLabels: Sendable {
    static let other = "other"
    /// The most bytes of a word.
    static let longest = 64
    /// The most words that are told apart beside ``known``.
    static let foreignLimit = 20

    private var foreign: Set<String> = []

    /// The word for a reason, the same one each time.
    mutating func label(for reason: Reason) -> String {
        let word = Self.word(for: reason)
        if word == Self.other || Self.known.contains(reason) || foreign.contains(word) { return word }
        guard foreign.count < Self.foreignLimit else { return Self.other }
        foreign.insert(word)
        return word
    }

    /// The reason if it is a word that a line can hold, else `other`.
    static func word(for reason: Reason) -> String {
        let bytes = reason.rawValue.utf8
        let isWord = (1...longest).contains(bytes.count) && bytes.allSatisfy(isWordByte)
        return isWord ? reason.rawValue : other
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Apple's words, and ours.
    static let known: Set<Reason> = [
        .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
        .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
        .payloadEmpty, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden,
        .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken, .badPath, .methodNotAllowed,
        .expiredToken,
        .unregistered, .payloadTooLarge, .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError,
        .serviceUnavailable, .shutdown, .badChannelID, .channelNotRegistered, .missingChannelID, .featureNotEnabled,
        .cannotCreateChannelConfig, .topicMismatch, .missingPushType, .broadcastUnsupported, .processingError,
        .missingPayload, .invalidTokenSize,
        .invalidTopicSize,
        .invalidPayloadSize, .invalidToken, .invalidFrameItem, .unknownError, .payloadNotJSON, .tagTooLong,
        .blacklisted,
        .expired, .tooManyAttempts, .neverProcessed, .noAnswer, .feedback, .suspectToken, .foreignAnswer,
        .topicSetAside, .endsConnections,
        .clockDistrusted, .blacklistUnreadable,
        .badProducerName, .journalFull, .journalFailed, .shuttingDown,
    ]
}
