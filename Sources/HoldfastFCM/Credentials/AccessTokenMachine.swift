internal import Holdfast

/// Why there is no new access token.
struct FetchError: Error, Hashable, Sendable {
    /// For operators, without secrets.
    let message: String
    /// Nothing but a person can mend it: the service does not know these credentials.
    let isFinal: Bool
    /// The wait that was asked for.
    var retryAfter: Duration?

    init(_ message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        (self.message, self.isFinal, self.retryAfter) = (message, isFinal, retryAfter)
    }

    var connectError: ConnectError { ConnectError(isFinal ? .configuration : .temporary, message) }
}

/// Decides when an access token is used, and when another is fetched: at ``renewalShare`` of its life, so that nobody waits
/// for it; out of turn when the service has refused it, once.
///
/// A pure machine. It is told two times: the wall clock's, in which tokens expire, and the monotonic clock's, by which failures
/// are waited out.
struct AccessTokenMachine: Sendable {
    /// The reaction to a token that the service has refused.
    enum Refusal: Equatable {
        /// There is another one, or there will be.
        case replaced
        /// A token that was fetched for this very reason is refused, too.
        case final
    }

    /// The part of its life after which a token is renewed.
    static let renewalShare = 0.8
    /// The same of a token that hosts share. Each host has a part of its own between these, and the first renews for all.
    static let sharedRenewal = 0.7...0.8
    /// A token is not used for so long before it expires: a request takes its time.
    static let margin = Duration.seconds(10)
    /// A token may be from so far in the future: clocks are a little apart.
    static let futureTolerance = Duration.seconds(60)
    /// The wait after the first failure; it doubles with each.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(60)
    /// The longest `Retry-After` that is respected: without a token nothing goes out, and one answer must not decide that for a day.
    static let longestRetryAfter = Duration.seconds(15 * 60)

    /// The refused tokens that are remembered. A token lasts an hour, and hosts fetch few.
    static let rememberedRefusals = 16

    private(set) var token: AccessToken?
    /// The service has refused the token.
    private var isRefused = false
    /// The service has refused the token for good, or there was none that it takes: lanes may have stopped.
    private(set) var isStopped = false
    private(set) var isFetching = false
    private(set) var failure: FetchError?
    private var failures = 0
    /// By the monotonic clock.
    private var heldUntil: Duration?
    /// The texts of refused tokens, this host's and others', the oldest first.
    private var refusals: [String] = []

    /// The token to send with; nil when there is none.
    func current(wall: WallTime) -> AccessToken? {
        guard let token, !isRefused, isGood(token, at: wall) else { return nil }
        return token
    }

    private func isGood(_ token: AccessToken, at wall: WallTime) -> Bool {
        let age = wall.since(token.fetchedAt)
        return age >= .zero - Self.futureTolerance && token.expiresAt.since(wall) > Self.margin
    }

    /// Whether another token is to be fetched now. One fetch at a time.
    ///
    /// - Parameter share: the part of its life after which a token is renewed.
    func wantsFetch(wall: WallTime, monotonic: Duration, renewingAt share: Double = renewalShare) -> Bool {
        guard !isFetching, heldUntil.map({ monotonic >= $0 }) ?? true else { return false }
        return current(wall: wall) == nil || isRenewable(wall: wall, at: share)
    }

    /// Whether the token is old enough for another one.
    func isRenewable(wall: WallTime, at share: Double) -> Bool {
        guard let token else { return false }
        return wall.since(token.fetchedAt) >= token.expiresAt.since(token.fetchedAt) * share
    }

    mutating func begin() { isFetching = true }

    mutating func giveUpFetch() { isFetching = false }

    /// - Returns: whether lanes may have stopped for want of it.
    mutating func fetched(_ text: String, lifetime: Duration, wall: WallTime) -> Bool {
        defer { isStopped = false }
        token = AccessToken(
            text: text, fetchedAt: wall, expiresAt: wall.advanced(by: lifetime), isReplacement: isRefused)
        (isFetching, isRefused, failure, failures, heldUntil) = (false, false, nil, 0, nil)
        return isStopped
    }

    /// - Parameter jitter: from 0 to 1; takes off up to half of the wait.
    mutating func failed(_ error: FetchError, wall: WallTime, monotonic: Duration, jitter: Double) {
        isFetching = false
        failure = error
        failures += 1
        if error.isFinal, current(wall: wall) == nil { isStopped = true }
        let doubled = Self.firstWait * Double(1 << min(failures - 1, 6))
        let wait = error.isFinal ? Self.longestWait : min(doubled, Self.longestWait) * (1 - jitter / 2)
        heldUntil = monotonic + max(wait, min(error.retryAfter ?? .zero, Self.longestRetryAfter))
    }

    /// The service has refused `refused`.
    mutating func refused(_ refused: AccessToken) -> Refusal {
        noteRefusal(of: refused.text)
        guard let token, token.text == refused.text else { return .replaced }
        guard !token.isReplacement else {
            isStopped = true
            return .final
        }
        isRefused = true
        return .replaced
    }

    mutating func noteRefusal(of text: String) {
        guard !isRefusedText(text) else { return }
        if refusals.count >= Self.rememberedRefusals { refusals.removeFirst() }
        refusals.append(text)
    }

    func isRefusedText(_ text: String) -> Bool { refusals.contains(text) }

    /// The service has taken a request with `accepted`.
    mutating func accepted(_ accepted: AccessToken) {
        if token?.text == accepted.text { token?.isReplacement = false }
    }

    /// Uses a token of another host, if it is good.
    ///
    /// - Returns: whether it is used.
    mutating func adopt(_ shared: AccessToken, wall: WallTime) -> Bool {
        guard isGood(shared, at: wall) else { return false }
        token = shared
        (isRefused, isStopped, failure, failures, heldUntil) = (false, false, nil, 0, nil)
        return true
    }

    /// Takes over the token of an earlier process, unless there is one already, or it is of no use.
    ///
    /// - Returns: whether it is used.
    mutating func restore(_ restored: AccessToken, wall: WallTime) -> Bool {
        guard token == nil, isGood(restored, at: wall), !isRefusedText(restored.text) else { return false }
        token = restored
        return true
    }
}
