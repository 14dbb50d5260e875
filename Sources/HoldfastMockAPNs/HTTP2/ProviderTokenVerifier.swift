import HoldfastMocking
import HoldfastOpenSSL

/// Judges authorization headers, each different one once.
final class ProviderTokenVerifier: Sendable {
    /// The verdict about one authorization header.
    enum Verdict: Equatable, Sendable {
        case invalid
        /// Exceeds the tokens that a sender may have within twenty minutes; the verdict stays on its connection.
        case tooMany
        /// Valid at any second of the range; expired after it, and not yet valid before it.
        case valid(ClosedRange<Int64>)

        func rejection(at now: Int64) -> MockRejection? {
            switch self {
            case .invalid: MockRejection("InvalidProviderToken")
            case .tooMany: MockRejection("TooManyProviderTokenUpdates")
            case .valid(let range) where now > range.upperBound: MockRejection("ExpiredProviderToken")
            case .valid(let range) where now < range.lowerBound: MockRejection("InvalidProviderToken")
            case .valid: nil
            }
        }
    }

    /// The most seconds between a token's `iat` and now, in either direction.
    static let lifetime: Int64 = 3600
    /// The most verdicts kept. Beyond it all are forgotten at once: a sender has one token, a hostile one as many as it
    /// likes.
    static let capacity = 1024

    private let mode: MockAPNsConfiguration.ProviderTokens
    private let keyID: String
    private let teamID: String
    private let key: ES256PublicKey
    private let verdicts = Locked<[String: Verdict]>([:])
    private let updateLimit: Int?
    /// The times at which new tokens were accepted; Unix seconds, the latest ones.
    private let updates = Locked<[Int64]>([])
    /// The interval, in seconds, of ``MockAPNsConfiguration/providerTokenUpdateLimit``.
    private static let updatePeriod: Int64 = 20 * 60

    init(_ configuration: MockAPNsConfiguration, key: ES256PublicKey) {
        mode = configuration.providerTokens
        keyID = configuration.keyID
        teamID = configuration.teamID
        self.key = key
        updateLimit = configuration.providerTokenUpdateLimit
    }

    /// The verdict about the value of an authorization header; nil when it holds no token.
    func verdict(on authorization: String) -> Verdict? {
        guard let token = Self.bearerToken(authorization) else { return nil }
        if let known = verdicts.withLock({ verdicts in verdicts[authorization] }) { return known }
        let verdict = judge(token)
        if verdict != .invalid, isOneTooMany() { return .tooMany }
        verdicts.withLock { verdicts in
            if verdicts.count >= Self.capacity { verdicts.removeAll(keepingCapacity: true) }
            verdicts[authorization] = verdict
        }
        return verdict
    }

    /// The text behind `bearer ` (in any case, RFC 9110 section 11.1); nil when there is none.
    private static func bearerToken(_ authorization: String) -> Substring? {
        let scheme = authorization.prefix(7)
        guard scheme.lowercased() == "bearer ", authorization.utf8.count > 7 else { return nil }
        return authorization.dropFirst(7)
    }

    private func isOneTooMany() -> Bool {
        guard let updateLimit else { return false }
        let now = MockService.milliseconds() / 1000
        return updates.withLock { updates in
            updates.removeAll { $0 <= now - Self.updatePeriod }
            guard updates.count < updateLimit else { return true }
            updates.append(now)
            return false
        }
    }

    private func judge(_ text: Substring) -> Verdict {
        guard let token = ProviderToken(text.utf8) else { return .invalid }
        guard mode == .verified else { return .valid(.min ... .max) }
        guard token.keyID == keyID, token.teamID == teamID, token.isSigned(by: key) else { return .invalid }
        let (earliest, isBeforeTime) = token.issuedAt.subtractingReportingOverflow(Self.lifetime)
        let (latest, isAfterTime) = token.issuedAt.addingReportingOverflow(Self.lifetime)
        guard !isBeforeTime, !isAfterTime else { return .invalid }
        return .valid(earliest...latest)
    }
}
