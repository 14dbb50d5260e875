internal import Holdfast

/// Decides about the token that hosts share.
extension AccessTokenMachine {
    /// A host's next step in the store.
    enum Exchange: Equatable {
        /// Nothing. What was shared may be used from now on.
        case settled
        /// To be written for all hosts: this host's token, or that a token is refused.
        case write(SharedAccessToken)
    }

    /// Compares with what hosts share, and uses it if it is newer. A token that the service has refused to any host is used by
    /// none.
    ///
    /// - Parameter shared: nil for none.
    mutating func exchange(_ shared: SharedAccessToken?, wall: WallTime) -> Exchange {
        guard let shared else { return offer(wall: wall) }
        if shared.isRefused {
            // As if this host had been refused it, once: one that is final stays, or hosts whose account may not send would fetch
            // for each other for ever.
            if let token, token.text == shared.token.text, !isRefusedText(token.text) { _ = refused(token) }
            noteRefusal(of: shared.token.text)
            return offer(wall: wall)
        }
        if isRefusedText(shared.token.text) {
            // Whatever this host has is better; if it has none, nobody else is to try this one.
            let offer = offer(wall: wall)
            return offer == .settled ? .write(SharedAccessToken(shared.token, isRefused: true)) : offer
        }
        if let token, token.text == shared.token.text {
            // It was fetched in place of a refused one, and the service has taken it since.
            return shared.token.isReplacement && !token.isReplacement ? offer(wall: wall) : .settled
        }
        if usable(wall: wall).map({ shared.token.fetchedAt >= $0.fetchedAt }) ?? true,
            adopt(shared.token, wall: wall) || wall < shared.token.fetchedAt
        {
            // One from the future is its host's mistake, or this one's.
            return .settled
        }
        return offer(wall: wall)
    }

    private func offer(wall: WallTime) -> Exchange {
        usable(wall: wall).map { .write(SharedAccessToken($0)) } ?? .settled
    }

    /// A token that others may have, too. One that was refused for good stays in use here until the next fetch.
    private func usable(wall: WallTime) -> AccessToken? {
        current(wall: wall).flatMap { isRefusedText($0.text) ? nil : $0 }
    }

    /// Ends a fetch for which nothing needs to be asked any more: another host's token has come.
    ///
    /// - Returns: whether that is so.
    mutating func endsFetch(wall: WallTime, renewingAt share: Double) -> Bool {
        guard usable(wall: wall) != nil, !isRenewable(wall: wall, at: share) else { return false }
        giveUpFetch()
        return true
    }
}
