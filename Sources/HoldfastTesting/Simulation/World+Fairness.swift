internal import Holdfast

/// No order of lanes starves one: each that could go has a share of what its route hands out.
extension World {
    /// The most hand-outs of a route's other lanes while one of its lanes has something that could go.
    private var greatestLead: Int { 200 + 4 * swarm.engine.window }

    /// Called with each hand-out: who has got something, and who waits.
    func checkFairness(_ handOut: HandOut, to peer: any Peer) {
        guard swarm.rate(.floods) > 0, !isHealing, rules.paused.isEmpty, ledger.suspects.isEmpty else {
            rules.lead = [:]
            return
        }
        let name = routes[peer.route].name
        for item in handOut.entries.items {
            guard let lane = ledger[item.uid]?.lane else { continue }
            rules.lead[lane] = 0
        }
        let stopped = Set((core?.status().lanes ?? []).filter { $0.stoppedBecause != nil }.map(\.key))
        for lane in laneKeys where lane.route == name && !stopped.contains(lane) {
            guard !handOut.entries.items.contains(where: { ledger[$0.uid]?.lane == lane }), isWaiting(lane) else {
                rules.lead[lane] = 0
                continue
            }
            let lead = rules.lead[lane, default: 0] + handOut.entries.count
            rules.lead[lane] = lead
            if lead > greatestLead {
                violate(5, "lane \(lane) waits while its neighbours have had \(lead) entries handed out")
            }
        }
    }

    /// Whether an entry of the lane could go out, as far as the world can tell.
    private func isWaiting(_ lane: LaneKey) -> Bool {
        ledger.open.contains { entry in
            entry.lane == lane && !entry.isDeferred && entry.copies.isEmpty && entry.requested.isEmpty
                && !entry.isPossiblySentByRule && !rules.withdrawn.contains(entry.uid)
                && !rules.pausedTags.contains(entry.notification.tag)
        }
    }
}
