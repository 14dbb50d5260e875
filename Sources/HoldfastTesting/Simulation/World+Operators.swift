internal import Holdfast

/// Operators put entries of other journals into this one, and send rejections again.
extension World {
    func troubleOperators() {
        let isImporting = strikes(.imports, times: 0.5)
        if isImporting { importSome() }
        let isRetrying = strikes(.retriesRejections, times: 0.5)
        if isRetrying { retrySome() }
        // What is durable on return has let others' commits happen.
        if isImporting || isRetrying { reconcile() }
    }

    // MARK: Imports

    /// Entries of another journal: waiting, deferred (some of them due) and rejected ones, side by side.
    private func importSome() {
        guard let core, shutdownDeadline == nil else { return }
        let lane = dice.pick(laneKeys.filter { key in routes.contains { $0.name == key.route } })
        let name = dice.pick(swarm.producers)
        defer { storage.changed() }
        do throws(JournalError) {
            let id = try journal.openLane(lane).id
            let producer = try journal.openProducer(name)
            lookAtClocks()
            var submission = Submission(
                producer: producer, acceptedAt: wall, earliestTime: core.timeToRemember(wall))
            for index in 0..<dice.steep(1...swarm.greatestBatch) {
                let serial = importable(for: lane, producer: name)
                guard let notification = application.submitted[serial]?.notification else { continue }
                let start = submission.bytes.count
                PackedNotification.append(
                    notification, id: NotificationID(high: 0x4000, low: 0x8000_0000_0000_0000 | serial),
                    expiration: notification.expiration ?? .at(wall.seconds + 86_400), acceptedAt: wall, producer: name,
                    to: &submission.bytes)
                submission.items.append(Submission.Item(lane: id, range: start..<submission.bytes.count))
                let history = makeHistory(producer)
                submission.histories.append((index, history))
                application.submitted[serial]?.history = history
            }
            note("import \(submission.items.count) into \(lane)")
            core.beginRestoring()
            journal.append(submission) { [weak self, life, weak core] result in
                guard let self, life == self.life else { return }
                note("imported: \(result)")
                core?.endRestoring()
            }
        } catch { note("not imported: \(error.code)") }
    }

    /// A notification of another journal, known to the application by its number.
    private func importable(for lane: LaneKey, producer: String) -> UInt64 {
        application.greatestSerial += 1
        let serial = application.greatestSerial
        let route = routes.firstIndex { $0.name == lane.route } ?? 0
        let devices = route != 1 ? service.devices : service.devices.filter { !$0.recipient.isBroadcast }
        var device = dice.pick(devices)
        // Now and then for a service that is not the lane's.
        if swarm.hasOtherService, routes[route].isOther != strikesOther(.otherRecipients, times: 5) {
            device = otherDice.pick(service.others)
        }
        var notification = PushNotification(
            recipient: device.recipient, topic: dice.pick(routes[route].topics),
            payload: SimulatedApplication.payload(isMalformed: false),
            pushType: device.recipient.channel != nil ? .liveactivity : nil)
        SimulatedApplication.label(&notification, serial, campaign: campaign())
        notification.priority = lane.urgency == .immediate ? .immediate : .considerate
        notification.guarantee = lane.guarantee
        notification.expiration = .at(wall.seconds + 86_400)
        notification.tokenRegisteredAt = device.registeredAt
        application.submitted[serial] = .init(notification: notification, producer: producer, life: life)
        return serial
    }

    private func makeHistory(_ producer: ProducerID) -> EntryHistory {
        var history = EntryHistory(producer: producer)
        switch dice.number(0...5) {
        case 0...2:
            history.place = .deferred(until: wall.advanced(by: dice.duration(milliseconds: -2000...20_000)))
        case 3:
            history.place = .rejected(
                RejectionCause(reason: Reason(rawValue: "Imported"), status: 400, rejectedAt: wall))
        default: break
        }
        history.attempts = UInt16(dice.steep(0...2))
        history.isPossiblySent = dice.chance(0.2)
        return history
    }

    // MARK: Rejections

    private func retrySome() {
        defer { storage.changed() }
        do throws(JournalError) {
            let rejections = try journal.rejections(after: .none, limit: 50)
            guard let first = rejections.first else { return }
            var submission = Submission(
                producer: try journal.openProducer(first.producer), acceptedAt: wall)
            for rejection in rejections where rejection.producer == first.producer && dice.chance(0.3) {
                guard let key = rejection.lane else { continue }
                let notification = rejection.notification
                let start = submission.bytes.count
                PackedNotification.append(
                    notification, id: notification.id ?? NotificationID(high: 1, low: rejection.uid.rawValue),
                    expiration: .at(wall.seconds + 86_400), acceptedAt: wall, producer: rejection.producer,
                    retryOf: rejection.uid, to: &submission.bytes)
                submission.retries.append((submission.items.count, rejection.uid))
                submission.items.append(
                    Submission.Item(lane: try journal.openLane(key).id, range: start..<submission.bytes.count))
                if let serial = SimulatedApplication.serial(notification) { application.retried.insert(serial) }
            }
            guard !submission.items.isEmpty else { return }
            note("retry \(submission.retries.map(\.rejection.rawValue))")
            journal.append(submission) { [weak self, life] result in
                guard let self, life == self.life else { return }
                note("retried: \(result)")
            }
        } catch { note("not retried: \(error.code)") }
    }
}
