internal import Holdfast
internal import HoldfastGateway

/// Judges who may read the page and who may change something.
///
/// On loopback everybody of this machine may read; from elsewhere, and behind a proxy, it takes the operators' token or a
/// session. A change always takes one of them; with a session also the proof that the page itself has asked for it, and not
/// a page of another site in the same browser.
final class PageAccess: Sendable {
    /// Who asks, for the log.
    enum Guest: Sendable {
        /// Somebody on this machine, who may read.
        case local
        /// A program that has the token.
        case bearer
        case session(PageSessions.Session)
    }

    private struct State: Sendable {
        var sessions = PageSessions()
        var limit = SignInLimit()
    }

    /// nil where nobody can sign in.
    let token: OperatorToken?
    /// Whether the listener is this machine's own.
    private let isLoopback: Bool
    /// Told of each wrong one.
    private let wrong: WrongTokens
    private let state = Monitor(State())

    init(token: OperatorToken?, isLoopback: Bool, wrong: WrongTokens) {
        (self.token, self.isLoopback, self.wrong) = (token, isLoopback, wrong)
    }

    // MARK: Judging

    /// - Throws: ``PageRefusal``.
    func reader(_ request: AdminPage.Request, now: ContinuousClock.Instant = .now) throws(PageRefusal) -> Guest {
        // A page of another site may neither read nor measure.
        if let site = request.fields["sec-fetch-site"], site != "same-origin", site != "none" {
            throw .foreignPage
        }
        if let guest = try presented(request, now) { return guest }
        guard isFromHere(request) else { throw .unknownReader }
        return .local
    }

    /// - Throws: ``PageRefusal``.
    func changer(_ request: AdminPage.Request, now: ContinuousClock.Instant = .now) throws(PageRefusal) -> Guest {
        try checkForm(request)
        switch try presented(request, now) {
        case .bearer?: return .bearer
        case .session(let session)?:
            // The cookie goes with each request of the browser, whoever has caused it. These two do not.
            guard request.fields["origin"] != nil else { throw .foreignPage }
            let proof = Array((request.fields["x-holdfast-csrf"] ?? "").utf8)
            guard OperatorToken.isEqual(Array(session.csrf.utf8), proof) else { throw .withoutProof }
            return .session(session)
        case .local?, nil: throw token == nil ? .noToken : .unknownOperator
        }
    }

    /// Whether somebody on this machine asks, without anybody in between.
    func isFromHere(_ request: AdminPage.Request) -> Bool {
        let isForwarded = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"].contains {
            request.fields[$0] != nil
        }
        guard isLoopback, !isForwarded, let client = request.client else { return false }
        return ListenAddress(host: client, port: 0).isLoopback
    }

    /// What only a page of this origin, or a program, sends.
    private func checkForm(_ request: AdminPage.Request) throws(PageRefusal) {
        if let origin = request.fields["origin"], !Self.isOwn(origin, request) { throw .foreignPage }
        if let site = request.fields["sec-fetch-site"], site != "same-origin" { throw .foreignPage }
        let type = request.fields["content-type"]?.prefix { $0 != ";" }.lowercased()
        guard type == "application/json" else { throw .noForm }
    }

    private static func isOwn(_ origin: String, _ request: AdminPage.Request) -> Bool {
        guard let authority = request.authority?.lowercased() else { return false }
        return ["http://\(authority)", "https://\(authority)"].contains(origin.lowercased())
    }

    /// The token or the session that a request presents; nil for neither.
    private func presented(
        _ request: AdminPage.Request, _ now: ContinuousClock.Instant
    ) throws(PageRefusal) -> Guest? {
        if !request.authorization.isEmpty {
            try check(request, now) { $0.refusal(of: request.authorization) == nil }
            return .bearer
        }
        guard let token, let id = Self.cookie(request) else { return nil }
        return state.withLock { $0.sessions.session(id, token.generation, at: now) }.map { .session($0) }
    }

    /// The right token is taken however many wrong ones came before it: on loopback everybody has one address, and nobody there
    /// may lock the operators out. That a token can't be guessed is due to its length.
    ///
    /// - Throws: ``PageRefusal`` for a wrong token; another one when there were too many.
    private func check(
        _ request: AdminPage.Request, _ now: ContinuousClock.Instant, _ isRight: (OperatorToken) -> Bool
    ) throws(PageRefusal) {
        guard let token else { throw .noToken }
        if isRight(token) { return }
        let client = request.client ?? ""
        if let wait = state.withLock({ $0.limit.wait(client, at: now) }) { throw .tooMany(wait) }
        state.withLock { $0.limit.wasWrong(client, at: now) }
        wrong.tell(request, now: now)
        throw .wrongToken
    }

    // MARK: Sessions

    /// - Throws: ``PageRefusal``.
    func signIn(
        _ presented: String, _ request: AdminPage.Request, now: ContinuousClock.Instant = .now
    ) throws(PageRefusal) -> PageSessions.Session {
        try checkForm(request)
        try check(request, now) { $0.isEqual(to: presented) }
        let generation = token?.generation ?? 0
        return state.withLock { $0.sessions.open(generation, at: now) }
    }

    func signOut(_ session: PageSessions.Session) { state.withLock { $0.sessions.close(session.id) } }

    /// The field that gives a browser a session, or with nil takes it.
    static func setCookie(_ session: PageSessions.Session?, _ request: AdminPage.Request) -> [String: String] {
        let value = session?.id ?? ""
        let age = session == nil ? 0 : PageSessions.lifetime.components.seconds
        // Only an attribute more: nobody gains by saying that it came over TLS.
        let secure = request.fields["x-forwarded-proto"] == "https" ? "; Secure" : ""
        return [
            "Set-Cookie": "\(name(request))=\(value); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict\(secure)"
        ]
    }

    private static func cookie(_ request: AdminPage.Request) -> String? {
        let name = name(request)
        for pair in (request.fields["cookie"] ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == name { return String(parts[1]) }
        }
        return nil
    }

    /// Cookies are not told apart by ports: two services on one machine would sign each other out.
    private static func name(_ request: AdminPage.Request) -> String {
        let port = request.authority.flatMap { authority in
            authority.lastIndex(of: ":").map { authority[authority.index(after: $0)...] }
        }
        return "holdfast-session-" + (port?.filter(\.isNumber) ?? "80")
    }
}
