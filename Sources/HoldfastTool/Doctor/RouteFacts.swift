internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastService

/// What was found on the way to a push service, and of its answer.
struct RouteFacts: Sendable {
    /// An address of the service, or of the proxy in front of it, and how long a connection to it took.
    struct Address: Hashable, Sendable {
        var text: String
        var time: Duration?
        /// Why there is no connection.
        var failure: String?
    }

    enum Addresses: Sendable {
        case found([Address])
        case unknown(String)
    }

    /// By what the service knows the sender.
    enum Credentials: Hashable, Sendable {
        case none
        case key(id: String, team: String)
        case certificate(topics: [String], environment: String?, notAfter: Int64)
        /// Google's: a service account, or a command for access tokens, in words.
        case firebase(String)
        /// They can't be used.
        case unusable(String)
    }

    var area = DoctorFinding.Area.routes
    var name: String
    var endpoint: String
    /// A service of Apple's.
    var isApples = false
    var isCleartext = false
    /// A service of Google's.
    var isFirebase = false
    /// Why there is no access token.
    var tokenFailure: ConnectError?
    /// Whether the certificate has to be for the very name.
    var checksName = true
    /// For people; nil without one.
    var proxy: String?
    var addresses: Addresses?
    var chain: ChainFacts?
    /// Until the connection could be used.
    var connectTime: Duration?
    /// Why there is no connection.
    var failure: ConnectError?
    var credentials: Credentials?
    /// The topic that was asked with; nil where nothing was asked.
    var topic: String?
    /// Why nothing was asked.
    var notAsked: String?
    var answer: SendResult?
    var answerTime: Duration?
    /// By how much the service's clock is ahead of this machine's; nil where it says no time.
    var clockOffset: Duration?
    /// The environment in which the service is; nil where nobody says.
    var environment: String?
}
