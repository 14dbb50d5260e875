internal import Holdfast
internal import HoldfastRequests
internal import HoldfastTransport

/// Fetches access tokens for assertions of a service account, over HTTP/1.1.
struct AssertionFetcher: AccessTokenFetcher {
    /// The timeout of a request, with connecting.
    static let limit = Duration.seconds(30)
    /// Bytes of an answer. A token has up to some two thousand.
    private static let bodyLimit = 16 << 10
    /// What is assumed where the answer does not say.
    private static let usualLifetime = Duration.seconds(3599)

    let account: ServiceAccount
    let poster: HTTPPoster

    /// - Parameter addresses: those of the endpoint; empty to resolve its name.
    init(_ account: ServiceAccount, trust: TrustedCertificates, proxy: ProxyServer?, addresses: [String] = []) {
        self.account = account
        var target = PostTarget(address: account.tokenAddress, trust: trust, proxy: proxy)
        target.addresses = addresses
        poster = HTTPPoster(target)
    }

    func fetch(at now: WallTime) async throws(FetchError) -> (text: String, lifetime: Duration) {
        let assertion: Assertion
        do throws(FCMConfigurationError) { assertion = try Assertion(account, at: now) } catch {
            throw FetchError(error.message, isFinal: true)
        }
        let request = PostRequest(contentType: "application/x-www-form-urlencoded", body: assertion.form)
        let answer = await poster.exchange(request, within: Self.limit, bodyLimit: Self.bodyLimit)
        let body = TokenAnswer(answer.body)
        let server = account.tokenAddress.server
        switch answer.result {
        case .taken(let status):
            guard answer.body.count < Self.bodyLimit else {
                throw FetchError(
                    "\(server) answered \(status) with more than an access token: \(Self.bodyLimit) bytes or more")
            }
            guard let body else { throw FetchError("\(server) answered \(status) with something that is no JSON") }
            do throws(TokenAnswer.Fault) { return try body.grant(orFor: Self.usualLifetime) } catch {
                throw FetchError("\(server) answered \(status) \(error.words)")
            }
        case .refused(let status, let retryAfter):
            throw refusal(status, body?.error, retryAfter)
        case .notSent(let why):
            throw FetchError(
                "no access token for \(account.clientEmail): \(why)",
                isFinal: answer.connectError?.kind == .configuration)
        case .unclear(let why):
            throw FetchError("no access token for \(account.clientEmail): \(server): \(why)")
        }
    }

    private func refusal(_ status: Int, _ word: String?, _ retryAfter: Duration?) -> FetchError {
        let said = word.map { Self.isWord($0) ? " \($0)" : "" } ?? ""
        let what =
            "\(account.tokenAddress.server) gives no access token for \(account.clientEmail): status \(status)\(said)"
        guard word == "invalid_grant" || status == 401 else { return FetchError(what, retryAfter: retryAfter) }
        return FetchError(
            "\(what): the key \(account.keyID) was deleted, the account is disabled, or this machine's clock is wrong; "
                + "see to the clock, or get a new key file", isFinal: true, retryAfter: retryAfter)
    }

    /// Whether the text is an error of RFC 6749: lower-case words with underscores.
    private static func isWord(_ text: String) -> Bool {
        (1...48).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x5f }
    }
}
