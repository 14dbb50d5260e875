internal import Holdfast

/// Who submits on one connection, request by request. Remembers the last provider token, since a sender has one.
struct SubmitterCheck {
    /// Whom a request has shown to come from.
    enum Submitter {
        /// Reached a listener that serves everybody.
        case anybody
        /// Has shown a certificate.
        case client(KnownClient)
        /// Has these keys.
        case keys([Int])
    }

    private var access: SubmitterAccess
    /// Who has shown a certificate that is good.
    var client: KnownClient?
    private var last: (fields: RequestFields, verdict: SubmitterAccess.Verdict?)?
    private var verifications = 0
    /// The keys of the last token with which a request was let in.
    private var provenKeys: [Int] = []

    /// Signatures that are looked at for one connection in one interval: each costs some hundred times what a request
    /// does.
    private static let greatestVerifications = 32

    init(_ access: SubmitterAccess) { self.access = access }

    /// Takes up other keys. A token proves nothing any more once none of its keys is there.
    mutating func change(to access: SubmitterAccess) {
        provenKeys = access.places(of: provenKeys, in: self.access)
        self.access = access
        last = nil
    }

    /// Whether the client has shown credentials that are good.
    var hasProof: Bool { client != nil || !provenKeys.isEmpty }

    /// A request of the submitter's is let in.
    mutating func letIn(_ submitter: Submitter) {
        guard case .keys(let keys) = submitter, keys != provenKeys else { return }
        provenKeys = keys
    }

    /// Another interval has begun.
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

    /// - Throws: ``Refusal`` where the submitter's key is that of another topic's route, or its certificate is for others.
    func check(_ submitter: Submitter, for topic: String) throws(Refusal) {
        switch submitter {
        case .anybody: break
        case .client(let client):
            guard client.topics?.contains(topic) == false else { return }
            throw Refusal(.topicDisallowed, "the table of clients has other topics for the bearer of this certificate")
        case .keys(let keys):
            guard !access.serves(keys, topic: topic) else { return }
            throw Refusal(.topicDisallowed, "the provider token is not signed with the key of this topic's route")
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

    /// What follows `bearer ` (in any case, as RFC 9110 section 11.1 has it); nil when nothing does.
    private static func bearerToken(_ authorization: String) -> String? {
        guard authorization.utf8.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
        return String(authorization.dropFirst(7))
    }
}
