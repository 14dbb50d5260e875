internal import Holdfast

/// Notifications that end every connection that they go out on: nobody waits for them.
extension World {
    /// As many at most, so that some of each kind of others are left.
    private static let most = 4

    func troubleConnectionEnders() {
        guard swarm.rate(.endsConnections) > 0, !ledger.open.isEmpty,
            connectionEnders.count < Self.most, strikes(.endsConnections, times: 0.3)
        else { return }
        let entry = dice.pick(ledger.open)
        connectionEnders.insert(entry.uid)
        note("entry \(entry.uid) ends connections from now on")
    }

    /// When all others have met their ends, the service is mended.
    ///
    /// - Returns: whether it was.
    func mendConnectionEnders() -> Bool {
        guard !connectionEnders.isEmpty, ledger.open.allSatisfy({ connectionEnders.contains($0.uid) }) else {
            return false
        }
        note("nothing ends connections any more")
        connectionEnders = []
        return true
    }

    /// An entry is blamed only for ends of connections that it went out on.
    func checkBlame(_ entry: LedgerEntry) {
        let ends = entry.copies.count { $0.life == life && ($0.word == .unknown || $0.word == .notProcessed) }
        if ends < 2 { violate(6, "entry \(entry.uid) is blamed for ended connections, and has seen \(ends)") }
    }

    /// The last connection that left it behind left nothing else behind: others go before it, to show whether it is the cause.
    /// A connection that asks for another one is judged by the entries that it has left until then; later ones do not count.
    func mayBeAccused(_ entry: LedgerEntry) -> Bool {
        guard let last = entry.copies.last(where: { $0.life == life && $0.wasLeft }) else { return false }
        return !ledger.entries.contains { other in
            other !== entry && !other.wasQuieted && other.lane.route == entry.lane.route
                && other.copies.contains {
                    $0.life == last.life && $0.consumer == last.consumer && $0.connection == last.connection
                        && $0.wasLeft
                        && $0.toldBeforeTurn <= last.toldBeforeTurn
                }
        }
    }
}
