internal import Holdfast
internal import HoldfastRequests

/// ``AccessTokenMachine/exchange(_:wall:)`` decides which token hosts share. A host that wants another looks first whether there is
/// a shared one, and offers what it has fetched.
extension AccessTokenSource: SharedTokens {
    package var sharedName: String { "\(noteName)/\(Hex.string(fingerprint.prefix(8)))" }

    package func exchange(_ note: [UInt8]?) -> [UInt8]? {
        let shared = note.flatMap { SharedAccessToken(note: $0, fingerprint) }
        let wall = clock.wall()
        let (step, isNew, endsRefusal) = state.withLock { state in
            let (before, wasStopped) = (state.machine.token?.text, state.machine.isStopped)
            let step = state.machine.exchange(shared, wall: wall)
            return (step, state.machine.token?.text != before, wasStopped && !state.machine.isStopped)
        }
        if isNew { keepers.tell(of: self, endsRefusal: endsRefusal) }
        guard case .write(let token) = step else { return nil }
        return token.note(fingerprint)
    }

    /// It is in use here already.
    package func adopt(_ note: [UInt8]) {}
}
