internal import Holdfast
internal import HoldfastAPNsAnswers

/// The answer to a refusal: the service's reason and status, or the nearest.
struct RefusalAnswer: Sendable, Equatable {
    var reason: String
    var status: Int
    /// Unix milliseconds, for the body's `timestamp`.
    var timestamp: Int64?
    /// Whether it is worth the sender's while to come again, after a time that the listener knows.
    var isTemporary = false
    /// Whether the request's method lets its answer have no body.
    var isBodiless = false
    /// The answer in Google's form; nil for Apple's.
    private var google: GoogleError?

    init(_ reason: Reason, status: Int? = nil, timestamp: Int64? = nil) {
        self.reason = reason.rawValue
        self.status = status ?? Self.statuses[reason] ?? 400
        self.timestamp = timestamp
        isTemporary = self.status == 429 || self.status == 503
    }

    /// An answer in Google's form.
    init(_ error: GoogleError, isTemporary: Bool = true) {
        (reason, status, google) = (error.word, error.status, error)
        self.isTemporary = isTemporary && status == 429
    }

    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .blacklisted: self.init(blacklisted: refusal.blacklistEntry)
        case .journalFull, .journalUnreachable, .journalFailed: self.init(.serviceUnavailable)
        case .shuttingDown: self.init(.shutdown)
        // By the header field that says it.
        case .badDeliveryTime: self.init(.badDeliverAfter)
        case .badDeliveryHours: self.init(.badDeliverWithin)
        case .contextTooLong: self.init(.badContext)
        case .tagTooLong: self.init(.badTag)
        case .newestWinsUnsupported: self.init(.badNewestWins)
        case .badProducerName: self.init(.badProducer)
        default: self.init(refusal.reason)
        }
    }

    /// The answer for a blacklisted token. The service's own reason is repeated; a token that feedback or an operator
    /// has reported as gone is Apple's `Unregistered`.
    private init(blacklisted entry: BlacklistEntry?) {
        guard let entry else {
            self.init(.unregistered)
            return
        }
        switch entry.reason {
        case .badDeviceToken, .deviceTokenNotForTopic: self.init(entry.reason)
        case .invalidToken, .invalidTokenSize: self.init(.badDeviceToken)
        case .expiredToken: self.init(.expiredToken, timestamp: entry.since.milliseconds)
        default: self.init(.unregistered, timestamp: entry.since.milliseconds)
        }
    }

    /// The answer to a notification that has ended; nil where its sender is told 200: it was taken, or may have been, or its
    /// time is over. The push service's own status and reason are repeated, with 410 its timestamp.
    ///
    /// - Parameter entry: the blacklist's entry, if it was rejected because of one.
    init?(_ outcome: Outcome, entry: BlacklistEntry?) {
        if case .rejected(.blacklisted) = outcome.terminal {
            self.init(blacklisted: entry)
        } else {
            self.init(outcome.terminal)
        }
        if let cause = outcome.cause, let status = cause.status, (400...599).contains(status) {
            self.status = status
            timestamp = status == 410 ? cause.timestamp?.milliseconds : nil
        }
        // The sender is told of an end: its own word about a later time would bring the notification a second time.
        isTemporary = false
    }

    /// The answer that the first of two equal notifications got; nil where that was no refusal.
    init?(_ outcome: TerminalOutcome) {
        switch outcome {
        case .confirmed, .unknown, .expired, .withdrawn, .superseded: return nil
        // The entry was lifted since, or the token would be refused before the journal is asked.
        case .rejected(.blacklisted): self.init(.unregistered)
        // Words of the binary protocol.
        case .rejected(.invalidToken), .rejected(.invalidTokenSize): self.init(.badDeviceToken)
        case .rejected(let reason): self.init(reason)
        }
    }

    /// `{"reason":"…"}`, as Apple writes it, or Google's form of errors; nothing where the answer may have no body.
    var body: [UInt8] {
        if isBodiless { return [] }
        if let google { return google.body }
        var body = Array(#"{"reason":""#.utf8)
        for byte in reason.utf8.prefix(255) {
            // A word may have come from anywhere. Nothing in it can end the string.
            body.append(
                byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? UInt8(ascii: "?") : byte)
        }
        body.append(UInt8(ascii: "\""))
        if let timestamp { body.append(contentsOf: #","timestamp":\#(timestamp)"#.utf8) }
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// Apple's table (developer.apple.com: *Handling notification responses from APNs*); everything else is 400.
    private static let statuses: [Reason: Int] = [
        .badCertificate: 403, .badCertificateEnvironment: 403, .expiredProviderToken: 403, .forbidden: 403,
        .invalidProviderToken: 403, .missingProviderToken: 403, .unrelatedKeyIDInToken: 403, .badPath: 404,
        .methodNotAllowed: 405, .expiredToken: 410, .unregistered: 410, .payloadTooLarge: 413,
        .fromGateway: 421,
        .tooManyProviderTokenUpdates: 429, .tooManyRequests: 429, .internalServerError: 500, .serviceUnavailable: 503,
        .shutdown: 503,
    ]
}
