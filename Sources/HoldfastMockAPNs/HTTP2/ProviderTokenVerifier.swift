import HoldfastOpenSSL

/// Judges authorization headers, each different one once.
final class ProviderTokenVerifier: Sendable {
    /// What is known about one authorization header.
    enum Verdict: Equatable, Sendable {
        case invalid
        /// One more than a sender may have within twenty minutes; it stays so on its connection.
        case tooMany
        /// Good at any second of the range; too old after it, and not yet valid before it.
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

    /// How far a token's `iat` may be from now, in seconds, either way.
    static let lifetime: Int64 = 3600
    /// Verdicts kept. More are forgotten all at once: a sender has one token, a hostile one as many as it likes.
    static let capacity = 1024

    private let mode: MockAPNsConfiguration.ProviderTokens
    private let keyID: String
    private let teamID: String
    private let key: ES256PublicKey
    private let verdicts = Locked<[String: Verdict]>([:])
    private let updateLimit: Int?
    /// When tokens were taken that had not been seen before; Unix seconds, the latest ones.
    private let updates = Locked<[Int64]>([])
    /// The time in which ``MockAPNsConfiguration/providerTokenUpdateLimit`` may be used up, in seconds.
    private static let updatePeriod: Int64 = 20 * 60

    init(_ configuration: MockAPNsConfiguration, key: ES256PublicKey) {
        mode = configuration.providerTokens
        keyID = configuration.keyID
        teamID = configuration.teamID
        self.key = key
        updateLimit = configuration.providerTokenUpdateLimit
    }

    /// The verdict about the value of an authorization header; nil when it holds no token at all.
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

    /// What follows `bearer ` (in any case, as RFC 9110 section 11.1 has it); nil when nothing does.
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
