internal import Holdfast
package import HoldfastRequests

/// Gets access tokens from somewhere.
protocol AccessTokenFetcher: Sendable {
    /// - Returns: the token and how long it lasts.
    func fetch(at now: WallTime) async throws(FetchError) -> (text: String, lifetime: Duration)
}

/// The one access token of some credentials, shared by all connections, connectors and engines of the process: see
/// ``AccessTokenRegistry``. ``AccessTokenMachine`` decides when there is another.
package final class AccessTokenSource: Sendable {
    struct State: Sendable {
        var machine = AccessTokenMachine()
        var fetcher: any AccessTokenFetcher
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters.removeAll() }
            return Array(waiters.values)
        }
    }

    package let noteName: String
    /// Tells the credentials from all others.
    let fingerprint: [UInt8]
    /// Those who are told of each new token.
    package let keepers = TokenKeepers()
    let clock: EngineClock
    let state: Monitor<State>
    /// Exchanges the token with other hosts; nil for a host that is alone, and for tokens that are not shared.
    private let share: @Sendable () -> TokenShare?
    /// The part of its life after which a shared token is renewed. Another one for each host, so that one renews it for all.
    private let sharedRenewal = Double.random(in: AccessTokenMachine.sharedRenewal)

    /// - Parameter fingerprint: 32 bytes.
    init(
        _ fetcher: any AccessTokenFetcher, name: String, fingerprint: [UInt8], clock: EngineClock = .system,
        share: @escaping @Sendable () -> TokenShare? = { nil }
    ) {
        noteName = "fcm-token/\(name)"
        self.fingerprint = fingerprint
        self.clock = clock
        self.share = share
        state = Monitor(State(fetcher: fetcher))
    }

    /// Fetches in this way from now on.
    func use(_ fetcher: any AccessTokenFetcher) { state.withLock { $0.fetcher = fetcher } }

    /// The token to send with now. Begins to fetch another when it is time; nobody waits for that.
    func current() throws(ConnectError) -> AccessToken {
        look()
        let wall = clock.wall()
        return try state.withLock { state throws(ConnectError) in
            if let token = state.machine.current(wall: wall) { return token }
            throw state.machine.failure?.connectError
                ?? ConnectError(.temporary, "there is no access token at the moment: another is being fetched")
        }
    }

    /// The token to send with, and waits for it if it has to be fetched.
    func token() async throws(ConnectError) -> AccessToken {
        look()
        await fetchEnds()
        return try current()
    }

    /// The service has refused `token`; another is fetched if that may help.
    func refused(_ token: AccessToken) -> AccessTokenMachine.Refusal {
        let refusal = state.withLock { $0.machine.refused(token) }
        look()
        return refusal
    }

    /// The service has taken a request with `token`.
    func accepted(_ token: AccessToken) { state.withLock { $0.machine.accepted(token) } }

    // MARK: Fetching

    /// Begins to fetch, if it is time.
    package func look() {
        let (wall, monotonic, share) = (clock.wall(), clock.monotonic(), share())
        let renewal = share == nil ? AccessTokenMachine.renewalShare : sharedRenewal
        let fetcher = state.withLock { state -> (any AccessTokenFetcher)? in
            guard state.machine.wantsFetch(wall: wall, monotonic: monotonic, renewingAt: renewal) else { return nil }
            state.machine.begin()
            return state.fetcher
        }
        guard let fetcher else { return }
        // Nobody's child: it goes on for all connections, whichever asked first. Fetchers end within a limit of their own.
        Task {
            guard let share else { return await fetch(fetcher) }
            // Another host may have fetched one already.
            await share.exchangeNow(self)
            if endsFetch(renewingAt: renewal) { return }
            await fetch(fetcher)
            await share.exchangeNow(self)
        }
    }

    /// Ends a fetch that another host has made needless.
    private func endsFetch(renewingAt renewal: Double) -> Bool {
        let wall = clock.wall()
        let waiters = state.withLock { state in
            state.machine.endsFetch(wall: wall, renewingAt: renewal) ? state.takeWaiters() : nil
        }
        for waiter in waiters ?? [] { waiter.resume() }
        return waiters != nil
    }

    private func fetch(_ fetcher: any AccessTokenFetcher) async {
        let waiters: [CheckedContinuation<Void, Never>]
        do throws(FetchError) {
            // A token lasts from before the request for it.
            let wall = clock.wall()
            let (text, lifetime) = try await fetcher.fetch(at: wall)
            let endsRefusal: Bool
            (endsRefusal, waiters) = state.withLock { state in
                (state.machine.fetched(text, lifetime: lifetime, wall: wall), state.takeWaiters())
            }
            keepers.tell(of: self, endsRefusal: endsRefusal)
        } catch {
            let (wall, monotonic) = (clock.wall(), clock.monotonic())
            waiters = state.withLock { state in
                state.machine.failed(error, wall: wall, monotonic: monotonic, jitter: .random(in: 0...1))
                return state.takeWaiters()
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no fetch is under way that could bring the first token, or the task is cancelled.
    private func fetchEnds() async {
        let wall = clock.wall()
        let number = state.withLock { state -> Int? in
            guard state.machine.isFetching, state.machine.current(wall: wall) == nil else { return nil }
            state.nextWaiter += 1
            return state.nextWaiter
        }
        guard let number else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.machine.isFetching, !Task.isCancelled else { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}

extension AccessTokenSource: KeptTokens {
    package var note: [UInt8]? { state.withLock(\.machine.token)?.note(fingerprint) }

    @discardableResult
    package func restore(_ note: [UInt8]) -> Bool {
        guard let token = AccessToken(note: note, fingerprint) else { return false }
        let wall = clock.wall()
        return state.withLock { $0.machine.restore(token, wall: wall) }
    }
}
