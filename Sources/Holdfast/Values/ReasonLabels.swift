/// Words for labels and lines. A service may make up words, so there is a bound on how many are told apart; the rest, and
/// whatever is no word (``Reason/isWord``), is `other`.
///
/// A pure machine.
struct ReasonLabels: Sendable {
    static let other = Reason.other.rawValue
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

    /// The reason if it is a word, else `other`.
    static func word(for reason: Reason) -> String { reason.isWord ? reason.rawValue : other }

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
        .recipientUnsupported, .badAddress, .payloadUnsupported,
        .missingPayload, .invalidTokenSize,
        .invalidTopicSize,
        .invalidPayloadSize, .invalidToken, .invalidFrameItem, .unknownError, .payloadNotJSON, .tagTooLong,
        .blacklisted,
        .expired, .tooManyAttempts, .neverProcessed, .noAnswer, .feedback, .suspectToken, .foreignAnswer,
        .topicSetAside, .endsConnections,
        .clockDistrusted, .blacklistUnreadable, .other,
        .badProducerName, .journalFull, .journalFailed, .shuttingDown,
    ]
}
