internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastFCM

/// An error as Google's interfaces write it: a `google.rpc.Status` in JSON, with the details that Firebase Cloud Messaging adds
/// (firebase.google.com: *ErrorCode*; cloud.google.com: *Errors*, AIP-193).
struct GoogleError: Error, Hashable, Sendable {
    let status: Int
    /// `google.rpc.Code`: `NOT_FOUND`.
    let code: String
    /// `FcmError.ErrorCode`: `UNREGISTERED`. Nil where there is none.
    let errorCode: String?
    let message: String
    /// The field that is wrong: `message.token`. Nil for none.
    let field: String?

    init(_ status: Int, _ code: String, errorCode: String? = nil, field: String? = nil, _ message: String) {
        (self.status, self.code, self.errorCode) = (status, code, errorCode)
        (self.message, self.field) = (message, field)
    }

    /// An error of FCM's own: its word, under the status and the code that Google answers it with.
    init(fcm word: Reason, status: Int? = nil, field: String? = nil, _ message: String) {
        let usual = Self.usual[word]
        let status = status ?? usual?.status ?? 400
        let code = usual?.code ?? Self.code(of: status)
        self.init(
            status, code, errorCode: usual?.isOfFCM == true ? word.rawValue : nil, field: field, message)
    }

    /// The word that it is counted under.
    var word: String { errorCode ?? code }

    var body: [UInt8] {
        var body = Array(#"{"error":{"code":\#(status),"message":""#.utf8)
        JSONText.append(message.utf8, to: &body)
        body += #"","status":"\#(code)""#.utf8
        var details: [String] = []
        if let errorCode {
            details.append(
                #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(JSONText.escaped(errorCode))"}"#
            )
        }
        if let field {
            details.append(
                #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(JSONText.escaped(field))","description":"\#(JSONText.escaped(message))"}]}"#
            )
        }
        if !details.isEmpty { body += #","details":[\#(details.joined(separator: ","))]"#.utf8 }
        body += "}}".utf8
        return body
    }

    private static let usual: [Reason: (status: Int, code: String, isOfFCM: Bool)] = [
        .fcmUnregistered: (404, "NOT_FOUND", true), .fcmInvalidArgument: (400, "INVALID_ARGUMENT", true),
        .fcmSenderIDMismatch: (403, "PERMISSION_DENIED", true), .fcmQuotaExceeded: (429, "RESOURCE_EXHAUSTED", true),
        .fcmThirdPartyAuthError: (401, "UNAUTHENTICATED", true), .fcmUnauthenticated: (401, "UNAUTHENTICATED", false),
        .fcmPermissionDenied: (403, "PERMISSION_DENIED", false), .fcmNotFound: (404, "NOT_FOUND", false),
    ]

    /// The code that belongs to an HTTP status (cloud.google.com: *Errors*).
    private static func code(of status: Int) -> String {
        switch status {
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 409: "ABORTED"
        case 429: "RESOURCE_EXHAUSTED"
        case 504: "DEADLINE_EXCEEDED"
        default: "FAILED_PRECONDITION"
        }
    }
}

// MARK: What senders are told

extension GoogleError {
    /// A message that is not as it should be.
    init(_ fault: FCMMessageFault) {
        self.init(fcm: .fcmInvalidArgument, field: fault.field, fault.description)
    }

    static let unauthenticated = GoogleError(
        fcm: .fcmUnauthenticated,
        "Request had invalid authentication credentials. Expected an OAuth 2 access token of this gateway, from its /token."
    )

    static let notFound = GoogleError(
        fcm: .fcmNotFound, "There is POST /v1/projects/PROJECT/messages:send and POST /token here, and nothing else.")

    static let tooBig = GoogleError(fcm: .fcmInvalidArgument, field: "message", "Message is too big.")

    static func denied(_ project: String) -> GoogleError {
        GoogleError(
            fcm: .fcmPermissionDenied,
            "Permission 'cloudmessaging.messages.create' denied on resource "
                + "'//cloudresourcemanager.googleapis.com/projects/\(project)' (or it may not exist).")
    }

    /// Nobody can say whether the message is in the journal. Google's libraries repeat 500 and 503 by themselves, and a
    /// connection that ends; this they tell.
    static let undetermined = GoogleError(
        504, "DEADLINE_EXCEEDED", "It is not known whether the message was accepted: the journal failed meanwhile.")

    /// A refusal: nothing of the message is in the journal. What passes by itself is 429, never 503, which Google's libraries
    /// repeat at once.
    init(_ refusal: Refusal) {
        switch refusal.reason {
        case .blacklisted: self.init(blacklisted: refusal.blacklistEntry)
        case .tooManyRequests, .journalFull, .journalUnreachable, .journalFailed, .shuttingDown:
            self.init(fcm: .fcmQuotaExceeded, "The gateway takes no more messages just now: \(refusal.detail).")
        case .topicDisallowed, .recipientUnsupported, .missingTopic:
            self.init(fcm: .fcmNotFound, "Requested entity was not found: \(refusal.detail).")
        case .payloadTooLarge:
            self.init(fcm: .fcmInvalidArgument, field: "message", "Message is too big: \(refusal.detail).")
        case .payloadEmpty, .payloadNotJSON:
            self.init(fcm: .fcmInvalidArgument, field: "message", "Message is invalid: \(refusal.detail).")
        default: self.init(fcm: .fcmInvalidArgument, "\(refusal.reason): \(refusal.detail).")
        }
    }

    /// By the service's own word about the target.
    private init(blacklisted entry: BlacklistEntry?) {
        switch entry?.reason {
        case .fcmSenderIDMismatch?: self.init(fcm: .fcmSenderIDMismatch, "SenderId mismatch")
        case .fcmInvalidArgument?:
            self.init(
                fcm: .fcmInvalidArgument, field: "message.token",
                "The registration token is not a valid FCM registration token")
        default: self.init(fcm: .fcmUnregistered, "Requested entity was not found.")
        }
    }

    /// The answer to a message that has ended; nil where its sender is told 200, as for Apple's.
    ///
    /// - Parameter entry: the blacklist's entry, if it was rejected because of one.
    init?(_ outcome: Outcome, entry: BlacklistEntry?) {
        guard case .rejected(let reason) = outcome.terminal else { return nil }
        self.init(rejected: reason, status: outcome.cause?.status, entry: entry)
    }

    /// The answer that the first of two equal messages got; nil where that was no refusal.
    init?(_ outcome: TerminalOutcome) {
        guard case .rejected(let reason) = outcome else { return nil }
        self.init(rejected: reason, status: nil, entry: nil)
    }

    /// The service's own status and word, but for a status that would bring the message a second time: 5xx, and 401, after which
    /// Google's libraries come again with another access token. They raise the class of the word whatever the status.
    private init(rejected reason: Reason, status: Int?, entry: BlacklistEntry?) {
        let status = status == 401 || reason == .fcmThirdPartyAuthError ? 400 : status
        if reason == .blacklisted {
            self.init(blacklisted: entry)
        } else if Self.usual[reason] != nil {
            self.init(
                fcm: reason, status: status.flatMap { (400..<500).contains($0) ? $0 : nil },
                "The service rejected the message: \(reason).")
        } else {
            let status = status.flatMap { (400..<500).contains($0) ? $0 : nil } ?? 400
            self.init(status, Self.code(of: status), "The message was accepted, and then rejected: \(reason).")
        }
    }
}
