internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastAPNsAnswers
internal import HoldfastHTTP2
internal import HoldfastRequests

/// The failure to create, read, delete or list channels.
public struct ChannelError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure. Later versions may add more.
    public struct Code: Hashable, Sendable {
        let name: String
        init(_ name: String) { self.name = name }

        /// A fault in the configuration that an operator must mend: a file, a key, a host name, a certificate. Nothing was
        /// done.
        public static let configuration = Code("configuration")
        /// No connection came about, the service took no request on it, or the task was cancelled before it was sent.
        /// Nothing was done: try again later.
        public static let unreachable = Code("unreachable")
        /// There is no such channel in this environment.
        public static let notRegistered = Code("not registered")
        /// The app has as many channels as it may have: delete some.
        public static let tooManyChannels = Code("too many channels")
        /// The service does not take these credentials for this app (status 403).
        public static let notAuthorized = Code("not authorized")
        /// The service refuses for now (429, and 500 and above). Nothing was done: try again later.
        public static let unavailable = Code("unavailable")
        /// The service refuses for another reason. A retry will not help.
        public static let refused = Code("refused")
        /// The request was sent, and its answer is missing or unreadable. It may have been done.
        public static let unknownOutcome = Code("unknown outcome")
        /// The answer to a request that changes nothing is not as Apple documents it.
        public static let malformedAnswer = Code("malformed answer")
    }

    /// The kind of failure.
    public let code: Code
    /// The status of the answer; `nil` when none came.
    public let status: Int?
    /// The reason in the answer: a word of Apple's or of its form; `other` for anything else, `nil` when none came.
    public let reason: String?
    /// The time to wait that the service asked for; `nil` when it asked for none.
    public let retryAfter: Duration?
    /// The failure for people: the request, the reason, and advice.
    public let message: String

    /// An error of this kind.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, reason: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.reason = reason
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }
}

extension ChannelError {
    init(_ error: APNsConfigurationError) { self.init(.configuration, error.message) }

    /// An attempt's ending that is not followed by another attempt.
    init(_ ending: ChannelAttempts.Ending, of request: ChannelRequest, at endpoint: APNsEndpoint) {
        switch ending {
        case .answered(let response):
            self.init(response, to: request, at: endpoint)
        case .neverSent(let cause, let isLasting):
            self.init(isLasting ? .configuration : .unreachable, "\(request.text): \(cause)")
        case .unknown(let cause):
            self.init(
                request.action.changesSomething ? .unknownOutcome : .unreachable,
                "\(request.text): \(cause)\(Self.doubt(about: request))")
        }
    }

    /// An answer that says yes and can't be read.
    init(
        fault: ChannelAnswerFault, in response: HTTP2Response, to request: ChannelRequest, at endpoint: APNsEndpoint
    ) {
        self.init(
            request.action.changesSomething ? .unknownOutcome : .malformedAnswer,
            "the answer of \(endpoint) (status \(response.status), apns-request-id \(request.id)) \(fault.what)"
                + Self.doubt(about: request), status: response.status)
    }

    private init(_ response: HTTP2Response, to request: ChannelRequest, at endpoint: APNsEndpoint) {
        let (status, reason) = (response.status, response.reason)
        let said = reason.map { "\(status) \(Self.words($0))" } ?? "status \(status)"
        let retryAfter = response.retryAfter(at: EngineClock.system.wall())
        let pause = retryAfter.map { ", and to wait \($0.components.seconds) s" } ?? ""
        let advice = ChannelAdvice.text(status, reason)
        self.init(
            Self.code(status, reason),
            "\(request.text): \(endpoint) says \(said)\(pause)\(advice) (apns-request-id \(request.id))",
            status: status, reason: reason, retryAfter: retryAfter)
    }

    private static func words(_ reason: String) -> String {
        let said = Reason(apns: reason)
        return said == .other ? "with \(said.words)" : said.words
    }

    private static func code(_ status: Int, _ reason: String?) -> Code {
        switch (status, reason) {
        case (_, "ChannelNotRegistered"): .notRegistered
        case (_, "CannotCreateChannelConfig"): .tooManyChannels
        case (403, _): .notAuthorized
        case (429, _), (500..., _): .unavailable
        default: .refused
        }
    }

    private static func doubt(about request: ChannelRequest) -> String {
        switch request.action {
        case .create: "; a channel may have been created all the same: the list of channels shows it"
        case .delete: "; it may be gone all the same: reading it tells"
        case .read, .list: ""
        }
    }
}

/// Advice for the reasons of the service.
package enum ChannelAdvice {
    private static let texts = [
        "BadChannelId": ChannelWords.badID,
        "BadCertificate": "the certificate is not one of Apple's for this app, or was revoked",
        "BadCertificateEnvironment": "the certificate is for the other environment",
        "CannotCreateChannelConfig": "\(ChannelWords.tooMany): delete some",
        "ChannelNotRegistered": ChannelWords.notRegistered,
        "ExpiredProviderToken": "a provider token made just now is called expired, check this machine's clock",
        "FeatureNotEnabled": "\(ChannelWords.notEnabled): \(ChannelWords.enabling)",
        "Forbidden": "this key or certificate may not do that",
        "InternalServerError": "try again later",
        "InvalidProviderToken": "check the key, its key id and its team id",
        "MissingProviderToken": "give a signing key or a client certificate",
        "Service Unavailable": "try again later",
        "ServiceUnavailable": "try again later",
        "Shutdown": "try again",
        "TooManyProviderTokenUpdates": "too many new provider tokens, wait twenty minutes",
        "TooManyRequests": "wait before the next request",
        "TopicMismatch": "the credentials are not for this bundle id",
    ]

    /// The text to append to the reason.
    static func text(_ status: Int, _ reason: String?) -> String {
        let advice = reason.flatMap { texts[$0] } ?? (status == 429 || status >= 500 ? "try again later" : nil)
        return advice.map { ": \($0)" } ?? ""
    }
}
