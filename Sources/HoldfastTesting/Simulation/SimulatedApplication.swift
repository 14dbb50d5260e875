internal import Holdfast

/// Who submits: with a number in each notification's tag, by which it is known again; where campaigns are paused, in its
/// context.
struct SimulatedApplication {
    /// What a notification says of a live activity.
    struct ActivityWord {
        let timestamp: Int
        let isUpdate: Bool

        var payload: [UInt8] {
            Array(
                #"{"aps":{"timestamp":\#(timestamp),"event":"\#(isUpdate ? "update" : "end")","content-state":{}}}"#
                    .utf8)
        }
    }

    struct Submitted {
        let notification: PushNotification
        let producer: String
        let life: Int
        /// Of each time that it was submitted.
        var receipts: [Receipt] = []
        var isPending = 0
        /// Of one that was imported by an operator.
        var history: EntryHistory?
        /// Of one that speaks of a live activity.
        var activity: ActivityWord?
    }

    var submitted: [UInt64: Submitted] = [:]
    var greatestSerial: UInt64 = 0
    /// With an apns-id of the application's own, to be submitted again.
    var identified: [UInt64] = []
    /// Outcomes that it asked the journal to remove.
    var isTaking = false
    /// Sent again by an operator, after a rejection.
    var retried: Set<UInt64> = []

    private static let malformed = Array(#"{"aps":{"alert":"bad"}}"#.utf8)
    private static let fine = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

    func isMalformed(_ notification: PushNotification) -> Bool { notification.payload == Self.malformed }

    static func payload(isMalformed: Bool) -> [UInt8] { isMalformed ? malformed : fine }

    /// Gives a notification its number, and its tag.
    ///
    /// - Parameter campaign: its tag; nil for one of its own.
    static func label(_ notification: inout PushNotification, _ serial: UInt64, campaign: [UInt8]?) {
        let number = (0..<8).map { UInt8(truncatingIfNeeded: serial >> UInt64(56 - 8 * $0)) }
        notification.tag = campaign ?? number
        if campaign != nil { notification.context = number }
    }

    /// The number that ``label(_:_:campaign:)`` gave.
    static func serial(_ notification: PushNotification) -> UInt64? {
        let number = notification.tag.count == 8 ? notification.tag : notification.context
        guard number.count == 8 else { return nil }
        return number.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension World {
    func submitSome() {
        guard let core, ledger.open.count < 300 || dice.chance(0.02) else { return }
        let name = dice.pick(swarm.producers)
        var batch: [(serial: UInt64, notification: PushNotification)] = []
        for _ in 0..<dice.steep(1...swarm.greatestBatch) {
            if let again = submitAgain(as: name) { batch.append(again) } else { batch.append(makeNotification(name)) }
        }
        for (serial, _) in batch { application.submitted[serial]?.isPending += 1 }
        do {
            let producer = try core.producer(named: name)
            if producer.isAccepting { lookAtClocks() }
            producer.submit(batch.map(\.notification)) { [weak self, life, serials = batch.map(\.serial)] receipts in
                self?.received(receipts, for: serials, life: life)
            }
        } catch {
            note("no producer \(name)")
            for (serial, _) in batch { application.submitted[serial]?.isPending -= 1 }
        }
        reconcile()
    }

    private func submitAgain(as producer: String) -> (UInt64, PushNotification)? {
        guard !application.identified.isEmpty, strikes(.submitsAgain) else { return nil }
        let serial = dice.pick(application.identified)
        guard let known = application.submitted[serial], known.producer == producer else { return nil }
        return (serial, known.notification)
    }

    private func makeNotification(_ producer: String) -> (UInt64, PushNotification) {
        application.greatestSerial += 1
        let serial = application.greatestSerial
        var device = dice.pick(service.devices)
        // Broadcasts have an answered route only.
        let connector = routes[connectorIndex(for: device.recipient)]
        if connector.isOther { device = otherDice.pick(service.others) }
        var activity =
            strikes(.supersedes, times: 4)
            ? SimulatedApplication.ActivityWord(timestamp: dice.number(0...1000), isUpdate: dice.chance(0.8)) : nil
        if connector.isOther { activity = nil }
        var notification = PushNotification(
            recipient: device.recipient, topic: topic(of: connector),
            payload: activity?.payload ?? SimulatedApplication.payload(isMalformed: strikes(.badNotification)),
            pushType: activity != nil || device.recipient.channel != nil ? .liveactivity : nil)
        if connector.isOther, !application.isMalformed(notification) {
            (notification.payload, notification.payloadKind) = otherDice.pick([
                (notification.payload, .json), ([0, 0xFF], .sealed), ([], .none),
            ])
        }
        SimulatedApplication.label(&notification, serial, campaign: campaign())
        notification.priority = dice.pick([nil, .immediate, .considerate])
        if strikes(.atMostOnce, times: 3) { notification.guarantee = .atMostOnce }
        if strikes(.oneAttempt, times: 2) {
            notification.expiration = .once
        } else if strikes(.shortLived, times: 2) {
            notification.expiration = .at(wall.seconds + Int64(dice.steep(1...120)))
        }
        notification.tokenRegisteredAt = device.registeredAt
        choose(for: &notification)
        if let environment = connector.environment, otherDice.chance(environment == .sandbox ? 0.7 : 0.2) {
            notification.environment = environment
        }
        if swarm.rate(.submitsAgain) > 0, dice.chance(0.5) {
            notification.id = NotificationID(high: dice.next() & 0xFFFF_FFFF_FFFF_0FFF, low: serial)
            application.identified.append(serial)
        }
        application.submitted[serial] = .init(
            notification: notification, producer: producer, life: life, activity: activity)
        return (serial, notification)
    }

    /// When it may go, and whether a newer one may take its place.
    private func choose(for notification: inout PushNotification) {
        let end = notification.expiration?.deadline ?? .max
        // By a clock that is wrong it would be another day's.
        if !isClockSuspect, strikesOther(.schedules) {
            let time = wall.advanced(by: .milliseconds(otherDice.steep(1...300_000)))
            if time.seconds < end { notification.deliverAfter = time }
        }
        if !isClockSuspect, end == .max, strikesOther(.deliveryHours) {
            let minute = Int(wall.seconds / 60 % 1440) + otherDice.number(0...3)
            notification.deliveryHours = try? DeliveryHours(
                from: minute % 1440, until: (minute + 1380) % 1440, timeZone: "UTC")
        }
        if notification.recipient.channel == nil, strikesOther(.newestWins) {
            (notification.collapseID, notification.newestWins) = (otherDice.pick(["a", "b"]), true)
        }
    }

    private func connectorIndex(for recipient: Recipient) -> Int {
        if routes.count > 2, dice.chance(0.3) { return 2 }
        return recipient.token == nil || dice.chance(swarm.answeredShare) ? 0 : 1
    }

    /// Whether the service may have been given a newer update in its place. (One that was refused stands for nothing; but of
    /// what has ended, and whose outcome was taken, the journal does not know that.)
    func isSuperseded(_ entry: LedgerEntry) -> Bool {
        guard swarm.engine.supersedesLiveActivities, let word = application.submitted[entry.serial]?.activity,
            word.isUpdate
        else { return false }
        return ledger.entries.contains { other in
            guard other.notification.recipient == entry.notification.recipient,
                other.notification.topic == entry.notification.topic,
                let newer = application.submitted[other.serial]?.activity
            else { return false }
            return newer.timestamp > word.timestamp
        }
    }

    /// Whether a newer notification of those was accepted of which the newest wins.
    func isNotNewest(_ entry: LedgerEntry) -> Bool {
        entry.notification.newestWins && ledger.entries.contains { $0.uid > entry.uid && $0.isLike(entry) }
    }

    /// Of those that a route has, most often the first.
    private func topic(of connector: SimulatedConnector) -> String {
        [.wrongTopic, .tokenNotForTopic, .wrongTokens, .silentTopic, .busyTopic].contains { swarm.rate($0) > 0 }
            && dice.chance(0.3) ? dice.pick(connector.topics) : connector.topic
    }

    /// Urgent ones without end, while few others come.
    func flood() {
        guard swarm.rate(.floods) > 0, ledger.open.count < 150, counts[.floods, default: 0] < 30,
            strikes(.floods, times: 4), let core
        else { return }
        let name = swarm.producers[0]
        var batch: [(serial: UInt64, notification: PushNotification)] = []
        for _ in 0..<dice.number(10...60) {
            application.greatestSerial += 1
            let serial = application.greatestSerial
            let device = dice.pick(service.devices.filter { !$0.recipient.isBroadcast })
            let connector = routes[swarm.answeredShare == 0 ? 1 : 0]
            var notification = PushNotification(
                recipient: device.recipient, topic: connector.topic,
                payload: SimulatedApplication.payload(isMalformed: false))
            SimulatedApplication.label(&notification, serial, campaign: campaign())
            notification.priority = .immediate
            notification.tokenRegisteredAt = device.registeredAt
            application.submitted[serial] = .init(notification: notification, producer: name, life: life, isPending: 1)
            batch.append((serial, notification))
        }
        do {
            lookAtClocks()
            try core.producer(named: name).submit(batch.map(\.notification)) {
                [weak self, life, serials = batch.map(\.serial)] receipts in
                self?.received(receipts, for: serials, life: life)
            }
        } catch {
            note("no producer \(name)")
        }
        reconcile()
    }

    /// On the journal's "thread", inside a commit, or at once.
    private func received(_ receipts: [Receipt], for serials: [UInt64], life: Int) {
        guard life == self.life else { return checkLateReceipts(receipts, for: serials) }
        if receipts.count != serials.count { violate(0, "\(serials.count) submissions had \(receipts.count) receipts") }
        for (serial, receipt) in zip(serials, receipts) {
            application.submitted[serial]?.receipts.append(receipt)
            application.submitted[serial]?.isPending -= 1
            switch receipt {
            case .accepted(let uid): note("serial \(serial) accepted as \(uid)")
            case .repeated(let uid, let outcome): note("serial \(serial) was \(uid), \(outcome)")
            case .refused(let refusal): note("serial \(serial) refused: \(refusal.reason)")
            case .undetermined: note("serial \(serial) undetermined")
            }
            rules.receipts.append((serial, receipt))
        }
    }
}
