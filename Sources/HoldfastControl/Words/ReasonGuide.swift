package import Holdfast
internal import HoldfastAPNsAnswers

/// The meaning of a reason, and advice, for people. The words are those of Apple's pages *Handling notification responses from
/// APNs* and *Binary Provider API*, of Google's page *ErrorCode*, and ours.
package struct ReasonGuide: Hashable, Sendable {
    /// A sentence without its full stop.
    package let meaning: String
    /// The advice; `nil` if there is nothing to do.
    package let advice: String?

    /// - Parameter status: the service's, for words that are not known here.
    package static func of(_ reason: Reason, status: Int? = nil) -> ReasonGuide {
        if let known = all[reason] { return known }
        let answer = status.map { "status \($0)" } ?? "an error"
        return ReasonGuide(
            "the service answered \(answer) with a word that this Holdfast does not know",
            "look it up in the push service's documentation of its answers")
    }

    init(_ meaning: String, _ advice: String? = nil) {
        self.meaning = meaning
        self.advice = advice
    }

    private static let wrongEnvironment = """
        see that endpoint (production or sandbox) and topic are those of the app's build; if they are, the token is no \
        good: delete it where your tokens are kept
        """
    static let unregisteredAdvice = "delete the token where your tokens are kept, until the app registers again"
    private static let credentialsAdvice = "see to --key, --key-id and --team-id, then resume the lane"
    static let mendAndSubmit = "mend it where it is made, and submit it anew"
    private static let listChannels = "`holdfast channels list` shows those that there are"
    static let notYours = "nothing of yours is wrong: it goes again by itself"

    /// Every reason that has a name here.
    package static let all: [Reason: ReasonGuide] = token.merging(channel) { one, _ in one }
        .merging(notification) { one, _ in one }
        .merging(lane) { one, _ in one }.merging(service) { one, _ in one }.merging(ours) { one, _ in one }
        .merging(FirebaseWords.guides) { one, _ in one }

    /// The token is wrong.
    private static let token: [Reason: ReasonGuide] = [
        .badDeviceToken: ReasonGuide(
            "the service does not know the token in this environment; a sandbox token at production, or the other way "
                + "round, looks the same", wrongEnvironment),
        .deviceTokenNotForTopic: ReasonGuide("the token is another app's than the topic names", wrongEnvironment),
        .unregistered: ReasonGuide(
            "the app is not on the device any more, or takes no notifications", unregisteredAdvice),
        .expiredToken: ReasonGuide("the device token has expired", unregisteredAdvice),
        .missingDeviceToken: ReasonGuide("it came without a device token", mendAndSubmit),
        .invalidToken: ReasonGuide(
            "the service does not know the token (status 8 of the binary protocol)", wrongEnvironment),
        .invalidTokenSize: ReasonGuide(
            "the token has not the length of one (status 5 of the binary protocol)", mendAndSubmit),
        .feedback: ReasonGuide(
            "the feedback service named the token: the app is not there any more", unregisteredAdvice),
        .suspectToken: ReasonGuide(
            "the service called its token bad; before that counts, it is watched whether it says so of many, which would "
                + "mean a wrong topic, environment or project"),
        .blacklisted: ReasonGuide(
            "its token is on the blacklist",
            "`holdfast blacklist check` says since when and why; take it off there if that is wrong, then retry this one"
        ),
    ]

    /// The channel of a broadcast is wrong.
    private static let channel: [Reason: ReasonGuide] = [
        .badChannelID: ReasonGuide(ChannelWords.badID, listChannels),
        .channelNotRegistered: ReasonGuide(ChannelWords.notRegistered, listChannels),
        .missingChannelID: ReasonGuide("it came without a channel id", mendAndSubmit),
        .cannotCreateChannelConfig: ReasonGuide(
            ChannelWords.tooMany, "delete those that are over: `holdfast channels delete`"),
        .featureNotEnabled: ReasonGuide(ChannelWords.notEnabled, "\(ChannelWords.enabling), then retry it"),
        .broadcastUnsupported: ReasonGuide(
            "the route that serves the topic can't send broadcasts: only Apple's HTTP/2 interface has them",
            "give the topic a route over HTTP/2"),
    ]

    /// The notification is wrong.
    private static let notification: [Reason: ReasonGuide] = [
        .badCollapseID: ReasonGuide("the apns-collapse-id is longer than 64 bytes", mendAndSubmit),
        .badExpirationDate: ReasonGuide("the apns-expiration is no time", mendAndSubmit),
        .badMessageID: ReasonGuide("the apns-id is no UUID", mendAndSubmit),
        .badPriority: ReasonGuide(
            "the apns-priority is not 10, 5 or 1, or not 5 with a background notification", mendAndSubmit),
        .invalidPushType: ReasonGuide("the apns-push-type is none, or none for this topic", mendAndSubmit),
        .missingPushType: ReasonGuide("it came without an apns-push-type", mendAndSubmit),
        .payloadEmpty: ReasonGuide("the payload is empty", mendAndSubmit),
        .payloadTooLarge: ReasonGuide(
            "the payload is longer than 4096 bytes (5120 with voip, and of a broadcast)", mendAndSubmit),
        .payloadNotJSON: ReasonGuide("the payload is not a JSON object", mendAndSubmit),
        .missingPayload: ReasonGuide("it came without a payload (status 4 of the binary protocol)", mendAndSubmit),
        .invalidTopicSize: ReasonGuide("the topic is too long (status 6 of the binary protocol)", mendAndSubmit),
        .invalidPayloadSize: ReasonGuide(
            "the payload is longer than the binary protocol takes (status 7)", mendAndSubmit),
        .recipientUnsupported: ReasonGuide(
            "the service of the route has no recipients of this kind",
            "submit it under the topic of a route that sends to that service"),
        .badAddress: ReasonGuide("the address is none", mendAndSubmit),
        .payloadUnsupported: ReasonGuide("the service of the route takes payloads of another form", mendAndSubmit),
        .tagTooLong: ReasonGuide("the tag is longer than 256 bytes", mendAndSubmit),
        .contextTooLong: ReasonGuide("the context is longer than 4096 bytes", mendAndSubmit),
        .badDeliveryTime: ReasonGuide(
            "the time after which it may be delivered is too far ahead, or behind its expiration", mendAndSubmit),
        .badDeliveryHours: ReasonGuide(
            "the hours of the day within which it may be delivered, or their time zone, are malformed, or they begin after its expiration",
            mendAndSubmit),
        .badRegistrationTime: ReasonGuide(
            "the time at which the token was registered is no time, or more than a day ahead (milliseconds for seconds)",
            mendAndSubmit),
        .newestWinsUnsupported: ReasonGuide(
            "the newest is to win, but without a collapse id nothing says among which notifications", mendAndSubmit),
        .environmentNotServed: ReasonGuide(
            "no route sends this topic to that environment",
            "add a route for the topic with this `environment`, or submit without one"),
        .duplicateHeaders: ReasonGuide("a header came twice", "this is a fault of Holdfast's: report it"),
        .badPath: ReasonGuide("the path of the request is wrong", "this is a fault of Holdfast's: report it"),
        .methodNotAllowed: ReasonGuide(
            "the method of the request is not POST", "this is a fault of Holdfast's: report it"),
        .invalidFrameItem: ReasonGuide(
            "the service does not understand the frame (status 128 of the binary protocol)",
            "this is a fault of Holdfast's, or of the service: report it"),
    ]

    /// The sender or the app is wrong, for the whole lane.
    private static let lane: [Reason: ReasonGuide] = [
        .missingTopic: ReasonGuide(
            "it came without a topic, and the certificate is for several", "give each notification its apns-topic"),
        .badTopic: ReasonGuide(
            "the apns-topic is none", "see to the topic, then resume the lane: that tries the topic at once"),
        .topicDisallowed: ReasonGuide(
            "these credentials may not send to this topic",
            "see that key and team are those of the app, then resume the lane: that tries the topic at once"),
        .topicMismatch: ReasonGuide(
            "these credentials are another app's than the bundle identifier names",
            "see that key and team are those of the app, then resume the lane: that tries the topic at once"),
        .badCertificate: ReasonGuide(
            "the client certificate is not good for this", "see to the certificate, then resume the lane"),
        .badCertificateEnvironment: ReasonGuide(
            "the client certificate is for the other environment",
            "see that certificate and endpoint (production or sandbox) fit, then resume the lane"),
        .expiredProviderToken: ReasonGuide(
            "the provider token is older than an hour",
            "a new one is made by itself; if that does not help, this machine's clock is wrong: set it, then resume the lane"
        ),
        .forbidden: ReasonGuide("these credentials may not do that", credentialsAdvice),
        .invalidProviderToken: ReasonGuide(
            "the provider token is not valid: its signature, its key or its team", credentialsAdvice),
        .missingProviderToken: ReasonGuide(
            "it came without a provider token, and the connection without a certificate", credentialsAdvice),
        .unrelatedKeyIDInToken: ReasonGuide(
            "the connection was begun with another team's key", "it goes again on a new connection by itself"),
        Reason(rawValue: "BadEnvironmentKeyIdInToken"): ReasonGuide(
            "the key is for the other environment",
            "see that key and endpoint (production or sandbox) fit, then resume the lane"),
        Reason(rawValue: "BadEnvironmentKeyInToken"): ReasonGuide(
            "the key is for the other environment",
            "see that key and endpoint (production or sandbox) fit, then resume the lane"),
    ]

    /// The cause passes by itself.
    private static let service: [Reason: ReasonGuide] = [
        .tooManyProviderTokenUpdates: ReasonGuide(
            "provider tokens were made too often: nothing goes out for 20 minutes",
            "see that no other process makes tokens with this key"),
        .tooManyRequests: ReasonGuide(
            "too many notifications went to this token or channel in a short time, or, where all get this answer, to the service",
            "it goes again by itself, later each time; send less, to this token or to all"),
        .internalServerError: ReasonGuide("the service failed", notYours),
        .serviceUnavailable: ReasonGuide("the service was not available", notYours),
        .channelServiceUnavailable: ReasonGuide("the service was not available", notYours),
        .shutdown: ReasonGuide("the service is shutting a server down", notYours),
        .idleTimeout: ReasonGuide("the service closed a connection that was idle", notYours),
        .processingError: ReasonGuide("the service failed (status 1 of the binary protocol)", notYours),
        .unknownError: ReasonGuide("the service does not say why (status 255 of the binary protocol)", notYours),
        .topicSetAside: ReasonGuide(
            "the service refuses its topic, calls each of its tokens bad, or leaves its requests unanswered; the topic is tried "
                + "with one entry now and then",
            "see in the reason what the service says of it: a topic that it leaves unanswered is not yours to mend; else see that "
                + "endpoint, topic, key and team are those of the app's build, then resume the lane: that tries the topic at once"
        ),
        .tagPaused: ReasonGuide(
            "an operator has paused its tag", "resume the tag with `holdfast tags resume`, or drop what waits for it"),
        .endsConnections: ReasonGuide(
            "each connection that it went out on ended without an answer to it, while others were taken",
            "look at what is special about it; it is tried alone, more and more seldom"),
        .scheduled: ReasonGuide("it may not be delivered yet, as its sender said", notYours),
        .neverProcessed: ReasonGuide("it was handed to a connection, which did not process it", notYours),
        .noAnswer: ReasonGuide("no answer came: it may have been sent", notYours),
    ]

    /// Holdfast's own words.
    private static let ours: [Reason: ReasonGuide] = [
        .tooManyAttempts: ReasonGuide(
            "it was answered \"not now\" as often, or for as long, as the retry settings allow",
            "when what kept it is over, retry it: `holdfast rejections retry`"),
        .expired: ReasonGuide(
            "its expiration, or its greatest age, came before it could be sent", "submit it anew if it still matters"),
        .other: ReasonGuide(
            "the service gave a reason that is none of its words; it may hold what was sent, so it was not kept",
            "see that the endpoint is the push service's, and that no proxy answers in its place"),
        .withdrawn: ReasonGuide(
            "it was taken back while it was in flight, or after it may have been sent: nobody knows whether the push service "
                + "took it"),
        .foreignAnswer: ReasonGuide(
            "something else than the push service answered", "see to the endpoint, the proxy and the name resolution"),
        .blacklistUnreadable: ReasonGuide(
            "the blacklist's record of its token cannot be read, and may forbid it",
            "`holdfast blacklist remove TOKEN` deletes the record, `holdfast blacklist add TOKEN` writes it anew"),
        .clockDistrusted: ReasonGuide(
            "it looks expired, but this machine's clock has jumped and is not believed", "see to the clock"),
        .badProducerName: ReasonGuide("the producer's name is not 1 to 64 bytes, or one too many", mendAndSubmit),
        .journalFull: ReasonGuide(
            "the journal had reached its limit: it was not taken", "submit it anew when there is room"),
        .journalUnreachable: ReasonGuide(
            "what keeps the journal could not be reached: it was not taken",
            "see that the database and the network to it are up, and submit it anew"),
        .journalFailed: ReasonGuide(
            "the journal could not be written: it was not taken", "see to the disk, and submit it anew"),
        .shuttingDown: ReasonGuide("the engine was shutting down: it was not taken", "submit it anew"),
    ]
}
