internal import Holdfast

/// The credentials of those who speak Google's interface.
extension SubmitterCheck {
    /// - Throws: UNAUTHENTICATED, where the client has to show credentials, and shows no access token of ours that is good.
    mutating func sender(_ fields: RequestFields, now: WallTime) throws(GoogleError) -> Submitter {
        if let client { return .client(client) }
        if access.isOpen { return .anybody }
        guard let verdict = accessToken(of: fields), Self.isGood(verdict.lastSecond, at: now) else {
            throw .unauthenticated
        }
        return .account(verdict.account)
    }

    /// - Parameter last: the token's last second.
    static func isGood(_ last: Int64, at now: WallTime) -> Bool { now.seconds <= last }

    /// - Throws: PERMISSION_DENIED where the sender is for other projects.
    func check(_ sender: Submitter, for project: String) throws(GoogleError) {
        switch sender {
        case .anybody: return
        case .client(let client) where client.topics?.contains(project) != false: return
        case .account(let account) where account.projects.contains(project): return
        case .client, .account, .keys: throw .denied(project)
        }
    }

    private mutating func accessToken(of fields: RequestFields) -> SenderAccounts.Verdict? {
        if let last = lastAccessToken, fields.hasAuthorization(of: last.fields) { return last.verdict }
        let verdict = Self.bearerToken(fields.authorization ?? "").flatMap { access.accounts?.verdict(on: $0) }
        lastAccessToken = (fields.kept(), verdict)
        return verdict
    }

    /// An access token for an assertion. Where everybody may send, anybody gets one, which nobody looks at.
    ///
    /// - Throws: the refusal in the words of RFC 6749.
    mutating func grant(_ assertion: String, now: WallTime) throws(TokenRefusal) -> String {
        guard !access.isOpen else { return Self.openToken }
        guard let accounts = access.accounts else {
            throw .invalidGrant("Invalid grant: this gateway has no register of service accounts.")
        }
        guard verifications < Self.greatestVerifications else {
            throw TokenRefusal(
                status: 429, error: "temporarily_unavailable", description: "Too many assertions on one connection.")
        }
        verifications += 1
        let (account, token) = try accounts.grant(assertion, at: now)
        letIn(.account(account))
        return token
    }

    private static let openToken = "holdfast.open"
}
