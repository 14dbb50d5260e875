internal import Holdfast
internal import HoldfastRequests

/// Ten minutes before a route would mint a token of its own, another one is minted for all hosts. Of hosts that do so at once one
/// wins, and the others throw theirs away.
extension ProviderTokenSource: SharedTokens {
    package var sharedName: String { "\(noteName)/\(Hex.string(signingKey.fingerprint.prefix(8)))" }

    package func exchange(_ note: [UInt8]?) throws -> [UInt8]? {
        let shared = note.flatMap { Token(note: $0, signingKey) }
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let (before, step, after) = schedule.withLock { schedule in
            let before = schedule.token
            let step = schedule.exchange(shared, wall: wall, monotonic: monotonic)
            return (before, step, schedule.token)
        }
        if before != after { keepers.tell(of: self) }
        switch step {
        case .settled: return nil
        case .offer(let token): return token.note(signingKey)
        case .mint: return try Token(signingKey, at: wall, isReplacement: false).note(signingKey)
        }
    }

    package func adopt(_ note: [UInt8]) {
        guard let token = Token(note: note, signingKey) else { return }
        let (wall, monotonic) = (clock.wall(), clock.monotonic())
        let isNew = schedule.withLock { schedule in
            // A route may have minted another meanwhile, which is offered next.
            if let other = schedule.token, other.mintedAt >= token.mintedAt { return false }
            return schedule.adopt(token, wall: wall, monotonic: monotonic)
        }
        if isNew { keepers.tell(of: self) }
    }
}
