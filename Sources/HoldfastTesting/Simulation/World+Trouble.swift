internal import Holdfast

/// Trouble that comes from outside: at any step.
extension World {
    func makeTrouble() {
        troubleProcess()
        troubleDisk()
        troubleClocks()
        troubleService()
        troubleElsewhere()
        troubleOperator()
        troubleOperators()
        troubleTags()
        troubleEnvironments()
        troubleRoutes()
        flood()
        troubleConnectionEnders()
        troubleOwners()
    }

    private func troubleProcess() {
        if strikes(.crash, times: 0.2) {
            crash()
            if strikes(.crashAgain, times: 5) {
                if dice.chance(0.5) { for route in wakes.indices { turn(route) } }
                crash()
            }
        }
        if strikes(.shutdown, times: 0.1) { beginShutdown() }
    }

    private func troubleDisk() {
        if failUntil <= now, failUntil > .zero { healDisk() }
        if strikes(.commitFails, times: 0.3) {
            storage.failWrites(true)
            disturbDisk()
        }
        if strikes(.readFails, times: 0.3) {
            storage.failReads(true)
            disturbDisk()
        }
        if strikes(.blacklistWriteFails, times: 0.3) {
            storage.failBlacklistWrites(true)
            disturbDisk()
        }
        if strikes(.recordDamaged, times: 0.2) { damageOne() }
        if strikes(.appendLimit, times: 0.3) {
            storage.limitEntries(to: dice.chance(0.5) ? dice.number(0...50) : nil)
        }
    }

    /// Bytes of a record that no checksum has noticed, in a version that nobody knows; or bytes that it has.
    private func damageOne() {
        guard !ledger.open.isEmpty else { return }
        let entry = dice.pick(ledger.open)
        if storage.damage(entry.uid, entry.lane, isNoticed: dice.chance(0.5)) { entry.isDamaged = true }
    }

    private func disturbDisk() {
        rules.hasFailed = true
        failUntil = now + dice.duration(milliseconds: 1...5000)
    }

    func healDisk() {
        failUntil = .zero
        storage.failWrites(false)
        storage.failReads(false)
        storage.failBlacklistWrites(false)
    }

    private func troubleClocks() {
        if strikes(.clockForward, times: 0.2) { setClock(by: dice.pick([1_000, 60_000, 3_600_000, 86_400_000])) }
        if strikes(.clockBack, times: 0.2) { setClock(by: -dice.pick([1_000, 60_000, 3_600_000, 86_400_000])) }
        if strikes(.clockLeaps, times: 0.1) {
            setClock(by: dice.pick([2, 4, 31, 366, -2, -31]) * 86_400_000)
        }
        if strikes(.clockNudge, times: 0.2) { setClock(by: Int64(dice.number(-500...500))) }
    }

    func setClock(by milliseconds: Int64) {
        wallOffset += milliseconds
        note("the clock is set by \(milliseconds) ms")
        if abs(milliseconds) >= 1000 { isClockSuspect = true }
        if !rules.hasUnseenSteps { (rules.unseenSince, rules.clockBefore) = (now, clockWasSet) }
        rules.hasUnseenSteps = true
        rules.unseenStep += .milliseconds(milliseconds)
        if abs(milliseconds) > 300_000 { clockWasSet = (now, milliseconds) }
    }

    private func troubleService() {
        for trouble in [Trouble.wrongEnvironment, .credentialsRefused, .overload] where strikes(trouble, times: 0.2) {
            spells[trouble] = now + dice.duration(milliseconds: 100...60_000)
        }
        if strikes(.foreignAnswers, times: 0.2) {
            spells[.foreignAnswers] = now + dice.duration(milliseconds: 100...60_000)
            service.foreignStatus = dice.pick([404, 400, 401, 407, 421, 200])
        }
        if swarm.rate(.wrongTopic) > 0 {
            if strikes(.wrongTopic, times: 0.2) { service.wrongTopics.insert(dice.pick(routes[0].topics)) }
            if dice.chance(0.01) { service.wrongTopics = [] }
        }
        if swarm.rate(.silentTopic) > 0 {
            if strikes(.silentTopic, times: 0.2) { service.silentTopics.insert(dice.pick(routes[0].topics)) }
            if dice.chance(0.01) { service.silentTopics = [] }
        }
        if swarm.rate(.busyTopic) > 0 {
            if strikes(.busyTopic, times: 0.2) { service.busyTopics.insert(dice.pick(routes[0].topics)) }
            if dice.chance(0.01) { service.busyTopics = [] }
        }
        if swarm.rate(.wrongTokens) > 0 {
            if strikes(.wrongTokens, times: 0.2) {
                let topic = dice.pick(dice.pick(routes).topics)
                service.topicsElsewhere[topic] = dice.pick(["BadDeviceToken", "DeviceTokenNotForTopic"])
            }
            if dice.chance(0.005) { service.topicsElsewhere = [:] }
        }
        if strikes(.unregistered, times: 0.5) {
            let index = dice.number(0...service.devices.count - 1)
            service.devices[index].condition = .unregistered(
                WallTime(milliseconds: wall.milliseconds - Int64(dice.number(0...10_000))))
        }
        if strikes(.badToken, times: 0.2) {
            service.devices[dice.number(0...service.devices.count - 1)].condition = .bad
        }
        if strikes(.tokenNotForTopic, times: 0.3) {
            let device = dice.pick(service.devices.filter { !$0.recipient.isBroadcast })
            service.strangers.insert(.init(recipient: device.recipient, topic: dice.pick(dice.pick(routes).topics)))
        }
        if strikes(.keyRevoked, times: 0.1) { service.isKeyRevoked = true }
        if service.isKeyRevoked, dice.chance(0.01) { changeCredentials() }
        if strikes(.registersAgain, times: 0.5) {
            let index = dice.number(0...service.devices.count - 1)
            service.strangers = service.strangers.filter { $0.recipient != service.devices[index].recipient }
            service.devices[index].condition = .good
            service.devices[index].registeredAt = wall
        }
    }

    private func troubleOperator() {
        guard let core else { return }
        if strikes(.pauses, times: 0.3) {
            let key = dice.pick(laneKeys)
            core.pause(key)
            rules.paused[key] = turns
        }
        if !rules.paused.isEmpty, dice.chance(0.02) { resumeAll() }
        if strikes(.withdraws, times: 0.5) { withdrawSome(core) }
        if strikes(.changesCredentials, times: 0.2) { changeCredentials() }
        if strikes(.replacesConnector, times: 0.2) { replaceConnector() }
        if strikes(.lifts, times: 0.5) { lift() }
        if strikes(.blacklists, times: 0.3) { blacklistOne() }
    }

    var laneKeys: [LaneKey] {
        routes.flatMap { route in
            Urgency.allCases.flatMap { urgency in
                Guarantee.allCases.map { LaneKey(route: route.name, urgency: urgency, guarantee: $0) }
            }
        }
    }

    func resumeAll() {
        guard let core else { return }
        note("resume all lanes")
        for key in laneKeys { core.resume(key) }
        rules.paused = [:]
    }

    /// Lanes that were stopped for want of good ones run again; paused ones do not.
    func changeCredentials() {
        note("other credentials")
        service.isKeyRevoked = false
        for route in routes { route.changeCredentials() }
    }

    /// Entries of one lane, and now and then one that never was.
    private func withdrawSome(_ core: EngineCore) {
        guard !ledger.open.isEmpty else { return }
        let lane = dice.pick(ledger.open).lane
        let all = ledger.open.filter { $0.lane == lane }
        var uids = (0..<dice.steep(1...20)).map { _ in dice.pick(all).uid }
        if dice.chance(0.1) { uids.append(UID(ledger.greatest.rawValue + 100)) }
        rules.withdrawn.formUnion(uids)
        rules.everWithdrawn.formUnion(uids)
        note("withdraw \(uids.map(\.rawValue)) of \(lane)")
        core.withdraw(uids, from: lane) { [weak self, life] result in
            guard let self, life == self.life else { return }
            self.note("withdrawn: \(result)")
        }
    }

    private func lift() {
        let device = dice.pick(service.named)
        guard storage.waitingBlacklistCount == 0 else { return }
        ledger.lifted.insert(device)
        do throws(JournalError) {
            _ = try journal.blacklist.remove([device])
            storage.changed()
            note("lifted \(device)")
        } catch { note("not lifted: \(error.code)") }
    }

    private func blacklistOne() {
        let device = dice.pick(service.named)
        ledger.blacklistedByOperator.insert(device)
        journal.blacklist.add([
            BlacklistEntry(
                recipient: device, reason: Reason(rawValue: "Operator"), since: wall, learntAt: wall, route: "operator")
        ]) { _ in }
    }
}
