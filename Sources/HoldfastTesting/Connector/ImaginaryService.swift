package import Holdfast

/// A push service that nobody runs, to check with it what the engine and journals do for services other than Apple's. It has
/// addresses, words and answers of its own.
///
/// | status | word | verdict |
/// |---|---|---|
/// | 200 | | confirmed |
/// | 404 | `NEST_EMPTY` | the recipient is rejected |
/// | 403 | `WRONG_FEATHER` | the recipient is suspect |
/// | 413 | `TOO_HEAVY` | the notification is rejected |
/// | 429 | `NEST_BUSY` | deferred, for this recipient |
/// | 429 | `LOFT_FULL` | deferred, for the whole service |
/// | 503 | `STORM` | deferred, for the whole service; it may have been taken |
/// | 500 | `LOST_IN_FOG` | unknown |
/// | 401 | `NO_LICENCE` | the lane stops |
/// | other | | not the service's answer |
package enum ImaginaryService {
    /// A device's address, and another kind of them of which the service has the same bytes.
    package static let nest = ServiceAddress.Kind(rawValue: 240)
    package static let perch = ServiceAddress.Kind(rawValue: 241)
    /// All that follow something.
    package static let flock = ServiceAddress.Kind.firebaseTopic

    package enum Word: String, CaseIterable, Sendable {
        case nestEmpty = "NEST_EMPTY"
        case wrongFeather = "WRONG_FEATHER"
        case tooHeavy = "TOO_HEAVY"
        case nestBusy = "NEST_BUSY"
        case loftFull = "LOFT_FULL"
        case storm = "STORM"
        case lostInFog = "LOST_IN_FOG"
        case noLicence = "NO_LICENCE"

        package var reason: Reason { Reason(rawValue: rawValue) }

        package var status: Int {
            switch self {
            case .nestEmpty: 404
            case .wrongFeather: 403
            case .tooHeavy: 413
            case .nestBusy, .loftFull: 429
            case .storm: 503
            case .lostInFog: 500
            case .noLicence: 401
            }
        }

        fileprivate var verdict: SendResult.Verdict {
            switch self {
            case .nestEmpty: .rejected(.token)
            case .wrongFeather: .rejected(.suspectToken)
            case .tooHeavy: .rejected(.notification)
            case .nestBusy: .deferred(.token)
            case .loftFull, .storm: .deferred(.service)
            case .lostInFog: .unknown
            case .noLicence: .laneStopped(.credentials)
            }
        }
    }

    /// - Parameter blacklistLifetime: an empty nest may be lived in again.
    package static func limits(blacklistLifetime: Duration? = .seconds(30 * 86_400)) -> NotificationLimits {
        .service(
            ServiceLimits(
                kinds: [nest, perch, flock], payloadKinds: [.json, .sealed, .none],
                blacklistLifetime: blacklistLifetime),
            payload: 2000, collapseID: 32)
    }

    package static let confirmed = SendResult(.confirmed, status: 200)

    package static func answer(_ word: Word, retryAfter: Duration? = nil) -> SendResult {
        var result = SendResult(
            word.verdict, status: word.status, reason: word.reason, retryAfter: retryAfter)
        result.mayHaveBeenTaken = word == .storm
        return result
    }

    /// Classifies an answer: the service's table.
    package static func answer(status: Int, word text: String?, retryAfter: Duration? = nil) -> SendResult {
        if status == 200 { return confirmed }
        guard let word = text.flatMap(Word.init(rawValue:)), word.status == status else {
            return SendResult(.foreign, status: status, reason: text.map { Reason(said: $0) })
        }
        return answer(word, retryAfter: retryAfter)
    }
}
