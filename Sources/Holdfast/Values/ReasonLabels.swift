/// Words for labels and lines. A service may make up words, so there is a bound on how many are told apart; the rest, and
/// whatever is no word (``Reason/isWord``), is `other`.
///
/// A pure machine.
struct ReasonLabels: Sendable {
    static let other = Reason.other.rawValue
    /// The most words that are told apart beside ``known``; Apple has some fifty.
    static let foreignLimit = 100

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

    /// The words that Holdfast says itself.
    static let known: Set<Reason> = [
        .badCollapseID, .badDeviceToken, .badExpirationDate, .badTopic, .invalidPushType, .missingDeviceToken,
        .missingTopic, .payloadEmpty, .topicDisallowed, .payloadTooLarge, .badChannelID, .missingChannelID,
        .serviceUnavailable, .tooManyProviderTokenUpdates, .other, .payloadNotJSON, .tagTooLong,
        .contextTooLong, .badDeliveryTime, .badDeliveryHours, .badRegistrationTime, .newestWinsUnsupported,
        .broadcastUnsupported, .recipientUnsupported, .badAddress, .payloadUnsupported, .blacklisted,
        .environmentNotServed,
        .blacklistUnreadable, .expired, .tooManyAttempts, .neverProcessed, .noAnswer, .feedback,
        .foreignAnswer, .suspectToken, .topicSetAside, .tagPaused, .endsConnections, .clockDistrusted, .scheduled,
        .badProducerName, .withdrawn,
        .journalFull, .journalUnreachable, .journalFailed, .shuttingDown,
    ]
}
