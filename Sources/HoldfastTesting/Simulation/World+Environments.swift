internal import Holdfast

/// Two routes of the same topics, one for each environment: a token that is bad in one is tried once in the other.
extension World {
    /// Devices change their build of the app, and register anew.
    func troubleEnvironments() {
        guard swarm.hasEnvironments else { return }
        if step == 1 {
            for (index, device) in service.devices.enumerated() where index % 3 == 0 && !device.recipient.isBroadcast {
                service.sandboxed.insert(device.recipient)
            }
        }
        guard strikesOther(.environments, times: 0.3) else { return }
        let index = otherDice.number(0...service.devices.count - 1)
        let recipient = service.devices[index].recipient
        guard !recipient.isBroadcast else { return }
        if service.sandboxed.remove(recipient) == nil { service.sandboxed.insert(recipient) }
        service.devices[index].registeredAt = wall
    }

    /// Whether the token is of the environment that the entry was not sent to.
    func isElsewhere(_ entry: LedgerEntry) -> Bool {
        guard swarm.hasEnvironments, !isHealing, !entry.notification.isBroadcast else { return false }
        let isSandbox = entry.lane.route == SimulatedConnector.extra
        return service.sandboxed.contains(entry.notification.recipient) != isSandbox
    }

    // MARK: What must hold

    /// An entry is moved once at most, to the same lane of the other environment, after its token was called bad in its own.
    func checkMove(_ entry: LedgerEntry, to id: LaneID, possiblySent: Bool) {
        guard swarm.hasEnvironments, let lane = snapshot.lane(id)?.key else {
            return violate(2, "entry \(entry.uid) is moved, and no route tries another environment")
        }
        if entry.wasMoved { violate(2, "entry \(entry.uid) is moved a second time, to \(lane)") }
        if !isOtherEnvironment(lane, than: entry.lane) {
            violate(2, "entry \(entry.uid) of \(entry.lane) is moved to \(lane)")
        }
        checkPossiblySent(entry, possiblySent, as: "moved")
        // Of one scope the later entry stays, which may be an application's, for another reason.
        let isBlack = snapshot.blacklistEntry(against: entry) != nil
        let isLifted = entry.notification.recipient.device.map(ledger.lifted.contains) ?? false
        // A device that registered later than it was answered, by a clock that was set back in between.
        let isSince = isRegisteredSince(entry, entry.copies.last { Copy.isRefused($0.word) }?.toldAt ?? wall)
        if !isBlack, !isLifted, !isSince {
            violate(4, "entry \(entry.uid) is moved, and its token is not blacklisted in its own environment")
        }
        entry.lanesAsked.insert(lane)
        // In moments nobody looks at it may go among the deferred and come back.
        (entry.deferralIsAsked, entry.wasDeferred) = (true, true)
        happened(.environments)
    }

    private func isOtherEnvironment(_ lane: LaneKey, than other: LaneKey) -> Bool {
        Set([lane.route, other.route]) == [SimulatedConnector.answered, SimulatedConnector.extra]
            && lane.urgency == other.urgency && lane.guarantee == other.guarantee
    }

    /// An entry lies in another lane on disk than before.
    func seeMoved(_ entry: LedgerEntry, to lane: LaneKey) {
        if !entry.lanesAsked.contains(lane) {
            violate(2, "entry \(entry.uid) of \(entry.lane) lies in \(lane), and nobody has moved it there")
        }
        if entry.wasMoved { violate(2, "entry \(entry.uid) is moved a second time, to \(lane)") }
        (entry.lane, entry.wasMoved, entry.wasDeferred, entry.deferralIsAsked) = (lane, true, true, false)
    }
}
