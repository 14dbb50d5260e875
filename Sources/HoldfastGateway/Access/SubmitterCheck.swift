internal import Holdfast
internal import HoldfastAPNsAnswers

/// Checks the credentials on one connection, request by request. Remembers the last provider token, since a sender has
/// one.
struct SubmitterCheck {
    /// The proven origin of a request.
    enum Submitter {
        /// A client of a listener that serves everybody.
        case anybody
        /// A client with a valid certificate.
        case client(KnownClient)
        /// A client with these keys.
        case keys([Int])
        /// A client with an access token of this service account.
        case account(ServiceAccountRegister.Account)
    }

    private(set) var access: SubmitterAccess
    /// The client with a valid certificate; nil without one.
    var client: KnownClient?
    private var last: (fields: RequestFields, verdict: SubmitterAccess.Verdict?)?
    /// The last access token.
    var lastAccessToken: (fields: RequestFields, verdict: SenderAccounts.Verdict?)?
    var verifications = 0
    /// The keys of the last accepted token.
    private var provenKeys: [Int] = []
    /// The service account of the last accepted access token or assertion.
    var provenAccount: ServiceAccountRegister.Account?

    /// The most signatures verified for one connection in one interval: each costs some hundred times as much as a
    /// request.
    static let greatestVerifications = 32

    init(_ access: SubmitterAccess) { self.access = access }

    /// Takes up other keys. A token proves nothing any more once none of its keys is left.
    mutating func change(to access: SubmitterAccess) {
        provenKeys = access.places(of: provenKeys, in: self.access)
        self.access = access
        last = nil
        lastAccessToken = nil
        if let account = provenAccount, access.accounts?.has(account) != true { provenAccount = nil }
    }

    /// Whether the client has shown valid credentials.
    var hasProof: Bool { client != nil || !provenKeys.isEmpty || provenAccount != nil }

    /// Notes that a request of the submitter was accepted.
    mutating func letIn(_ submitter: Submitter) {
        switch submitter {
        case .anybody, .client: break
        case .keys(let keys): if keys != provenKeys { provenKeys = keys }
        case .account(let account): if account != provenAccount { provenAccount = account }
        }
    }

    /// Starts another interval.
    mutating func renew() { verifications = 0 }

    /// - Throws: ``Refusal`` in Apple's words.
    mutating func submitter(_ fields: RequestFields, now: WallTime) throws(Refusal) -> Submitter {
        if let client { return .client(client) }
        if access.isOpen { return .anybody }
        guard let verdict = try verdict(on: fields) else {
            throw Refusal(.invalidProviderToken, "the provider token is not signed with a key of a route")
        }
        guard now.seconds <= verdict.valid.upperBound else {
            throw Refusal(.expiredProviderToken, "the provider token is older than an hour")
        }
        guard now.seconds >= verdict.valid.lowerBound else {
            throw Refusal(.invalidProviderToken, "the provider token is not valid yet")
        }
        return .keys(verdict.keys)
    }

    /// - Throws: ``Refusal`` where the submitter's key or certificate is for other topics.
    func check(_ submitter: Submitter, for notification: borrowing PushNotification) throws(Refusal) {
        switch submitter {
        case .anybody: break
        case .client(let client):
            guard client.topics?.contains(notification.topic) == false else { return }
            throw Refusal(.topicDisallowed, "the table of clients has other topics for the bearer of this certificate")
        case .keys(let keys):
            guard !access.serves(keys, notification) else { return }
            throw Refusal(.topicDisallowed, "the provider token is not signed with the key of this topic's route")
        case .account(let account):
            guard !account.projects.contains(notification.topic) else { return }
            throw Refusal(.topicDisallowed, "the service account is for other projects")
        }
    }

    private mutating func verdict(on fields: RequestFields) throws(Refusal) -> SubmitterAccess.Verdict? {
        if let last, fields.hasAuthorization(of: last.fields) { return last.verdict }
        guard let text = Self.bearerToken(fields.authorization ?? "") else {
            throw Refusal(.missingProviderToken, "there is no provider token")
        }
        var verdict = access.known(text)
        if verdict == nil {
            guard verifications < Self.greatestVerifications else {
                throw Refusal(.tooManyProviderTokenUpdates, "too many different provider tokens on one connection")
            }
            verifications += 1
            verdict = access.verify(text)
        }
        last = (fields.kept(), verdict)
        return verdict
    }

    /// The text behind `bearer ` (in any case, RFC 9110 section 11.1); nil when there is none.
    static func bearerToken(_ authorization: String) -> String? {
        guard authorization.utf8.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
        return String(authorization.dropFirst(7))
    }
}
