internal import Holdfast

/// What the checks remember.
struct RuleState {
    /// A lane on a connection.
    struct Stream: Hashable {
        let lane: LaneKey
        let connection: Int
    }

    /// A topic of which a route was told that something was taken.
    struct Proven: Hashable {
        let route: String
        let topic: String
    }

    /// Whose tokens are said to be gone, or whose entries are refused for another reason.
    enum Subject: Hashable {
        case topic(Proven)
        case lane(LaneKey)
    }

    /// Answers in a row that refuse for one reason, told to one Consumer.
    struct UniformAnswers {
        let consumer: Int
        let reason: Reason?
        var count = 0
    }

    /// Tags whose pauses were answered, or found by this life at its beginning; without those that may be resumed.
    var pausedTags: Set<[UInt8]> = []
    var tagChanges = 0
    /// Of all lives: the tag of each place.
    var tagPlaces: [WallTime: [UInt8]] = [:]
    /// Of all lives: the journal remembers it.
    var proven: Set<Proven> = []
    /// Receipts to be checked against the disk.
    var receipts: [(serial: UInt64, receipt: Receipt)] = []
    /// Of this life: the last first hand-out.
    var lastFirst: [Stream: UID] = [:]
    /// Of this life: hand-outs that may be a second copy, which the journal must have counted in the end.
    var duplicates = 0
    var possibleDuplicatesAtOpen: UInt64 = 0
    /// Lanes that are paused, and since which turn.
    var paused: [LaneKey: Int] = [:]
    /// Of this life: what an operator has asked to be taken back.
    var withdrawn: Set<UID> = []
    /// Some was taken back on a connection that went on to speak of it: nobody can say which word came to disk first.
    var hasTwoWords = false
    /// The same in all lives: their outcomes are not bounded by the limit.
    var everWithdrawn: Set<UID> = []
    /// Entries that a late error brought back.
    var recalled = 0
    /// Entries that silence has confirmed.
    var everAside = 0
    /// Of this life, by route.
    var handedOut: [Int: Int] = [:]
    var openedAt = Duration.zero
    /// In this life the engine has looked at the clocks.
    var hasLooked = false
    /// By how much the wall clock was set since, and when it first was.
    var unseenStep = Duration.zero
    var unseenSince = Duration.zero
    /// How far ahead the wall clock may be, as far as the engine can know, and until when it cannot tell.
    var ahead = Duration.zero
    var hasUnseenSteps = false
    /// What was known of a clock that was set, before the steps that nobody has seen yet.
    var clockBefore: (at: Duration, by: Int64)?
    var doubtfulUntil = Duration.zero
    /// By route: since when its rate counts, if that is later.
    var rateSince: [Int: Duration] = [:]
    /// By quiet, though a late error would have said otherwise.
    var excusedByLateError = 0
    var marksAtOpen: [LaneKey: UID] = [:]
    /// Blacklist entries made for tokens with which nothing is wrong.
    var wrongConvictions = 0
    /// Topics that the service has refused in this life, and in all.
    var refusedTopics: Set<String> = []
    /// Of this life.
    var uniform: [Subject: UniformAnswers] = [:]
    /// Lanes that have stopped by themselves: each tries an entry now and then, of any topic.
    var stopped: Set<LaneID> = []
    var outcomesDelivered = 0
    /// In this turn: what was handed out for the first time, and what it went before that was to go again.
    var overtaken: [(entry: UID, waiting: LedgerEntry)] = []
    /// In this life something could not be read or written.
    var hasFailed = false
    /// In this life a mark could not be set back.
    var loweringHasFailed = false
    /// In this life: when tokens were called bad.
    var suspicions: [Duration] = []
    /// Connections that were given entries in this turn, which is one route's.
    var givenInTurn: (turn: Int, connections: Set<Int>) = (0, [])
    /// By lane that waits: how many entries its neighbours had handed out meanwhile.
    var lead: [LaneKey: Int] = [:]
    /// Old identities were to be forgotten.
    var hasTrimmed = false
}

/// What must hold for everything that is handed to a connection.
extension World {
    func checkHandOut(_ handOut: HandOut, to peer: any Peer) {
        if peer.life != life { return checkLateHandOut(handOut, to: peer) }
        activity += 1
        checkOwnership(peer)
        let uids = handOut.entries.items.map(\.uid.rawValue)
        note("route \(peer.route) connection \(peer.number) <- \(uids)")
        if let told = peer.toldToStopInTurn, told < turns {
            violate(5, "connection \(peer.number) was given \(uids) after it had said that it takes no more")
        }
        if peer.unanswered + handOut.entries.count > peer.capacity {
            violate(7, "connection \(peer.number) takes \(peer.capacity) and was given more")
        }
        let disk = snapshot
        for index in handOut.entries.items.indices {
            check(handOut.entries, index, peer: peer, disk: disk)
        }
        checkFairness(handOut, to: peer)
        checkQuota()
        checkWindow(of: peer.route, adding: handOut.entries.items.map(\.uid))
        checkConnections(of: peer, adding: handOut.entries.count)
        checkRate(of: peer.route, adding: handOut.entries.count)
    }

    private func checkRate(of route: Int, adding count: Int) {
        rules.handedOut[route, default: 0] += count
        guard let limit = terms[route].rate, let total = rules.handedOut[route] else { return }
        let most =
            Double(limit.burst) + (now - (rules.rateSince[route] ?? rules.openedAt)) / .seconds(1) * limit.perSecond
        if Double(total) > most + 1e-3 {
            violate(7, "route \(route) has handed out \(total), and its rate allows \(most)")
        }
    }

    private func check(_ batch: EntryBatch, _ index: Int, peer: any Peer, disk: InMemoryDisk) {
        let item = batch.items[index]
        guard let entry = ledger[item.uid] else {
            return violate(1, "entry \(item.uid) was handed out and is not on disk")
        }
        guard let notification = parse(batch, index) else {
            return violate(10, "the damaged entry \(item.uid) was handed out")
        }
        if notification != entry.notification {
            violate(
                3, "entry \(item.uid) was handed out with other contents or another apns-id than it was accepted with")
        }
        if let outcome = entry.outcome {
            violate(2, "entry \(item.uid) was handed out although it is over (\(outcome))")
        }
        if routes[peer.route].name != entry.lane.route {
            violate(5, "entry \(item.uid) of \(entry.lane) went to route \(routes[peer.route].name)")
        }
        checkMark(entry, disk)
        checkBlacklist(entry, disk)
        checkCopies(entry)
        checkOrder(entry, behind: batch.items[..<index].map(\.uid), on: peer)
        if notification.isExpired(at: wall), !isClockSuspect {
            violate(2, "entry \(item.uid) was handed out after its expiration")
        }
        checkItsTime(entry)
        checkIsNewest(entry)
        if let since = rules.paused[entry.lane], since < turns {
            violate(6, "entry \(item.uid) was handed out although its lane \(entry.lane) is paused")
        }
        checkTag(entry)
    }

    private func checkItsTime(_ entry: LedgerEntry) {
        if let time = entry.notification.opening(at: wall) {
            violate(11, "entry \(entry.uid) was handed out before \(time.milliseconds), and it is \(wall.milliseconds)")
        }
    }

    /// Of those of which the newest wins, none goes behind a newer one that was taken, or before the newest that may still go.
    private func checkIsNewest(_ entry: LedgerEntry) {
        guard entry.notification.newestWins, !application.retried.contains(entry.serial) else { return }
        let later = ledger.entries.filter { other in
            other.uid > entry.uid && other.isLike(entry) && !other.isImportedAsRejection
        }
        let newer = later.filter { !application.retried.contains($0.serial) }
        // One that is expired may not go any more, and stands for nothing.
        let waits = newer.last { other in
            other.outcome == nil && other.requested.isEmpty && !other.notification.isExpired(at: wall)
        }
        let hasWon = newer.last { $0.outcome == .confirmed || $0.outcome == .unknown }
        // The journal remembers the last alone, which may be one that an operator sends again and that is expired by now.
        if let winner = hasWon ?? (waits === later.last ? waits : nil) {
            violate(11, "entry \(entry.uid) was handed out, and \(winner.uid) was to take its place")
        }
    }

    /// - Returns: nil for damage.
    private func parse(_ batch: EntryBatch, _ index: Int) -> PushNotification? {
        do throws(PackedNotification.Damage) { return try batch.notification(at: index) } catch { return nil }
    }

    /// Only what is covered by the durable mark may go: a crash must find it possibly sent.
    private func checkMark(_ entry: LedgerEntry, _ disk: InMemoryDisk) {
        guard let id = disk.laneID(of: entry.lane), let lane = disk.lane(id) else { return }
        guard let record = lane.entries[entry.uid] else {
            return violate(3, "entry \(entry.uid) was handed out while it lies among the deferred")
        }
        if entry.uid > lane.mark, !record.isPossiblySent {
            violate(3, "entry \(entry.uid) was handed out above the send mark \(lane.mark) of \(entry.lane)")
        }
    }

    private func checkBlacklist(_ entry: LedgerEntry, _ disk: InMemoryDisk) {
        let black = disk.blacklistEntry(
            against: entry, registeredAt: entry.notification.tokenRegisteredAt, now: wall)
        guard let black else { return }
        violate(4, "entry \(entry.uid) was handed out although its token is blacklisted (\(black.reason))")
    }

    private func checkCopies(_ entry: LedgerEntry) {
        for copy in entry.copies where copy.life == life {
            switch copy.word {
            case .outstanding: violate(2, "entry \(entry.uid) was handed out while another copy of it is under way")
            case .taken: violate(2, "entry \(entry.uid) was handed out again after it was confirmed")
            case .rejected(let reason, let fault) where fault != .suspectToken && !copy.isDoubted:
                violate(2, "entry \(entry.uid) was handed out again after it was rejected (\(reason))")
            case .rejected, .deferred, .notProcessed, .unknown: break
            }
        }
        let mayHaveBeenTaken = entry.mayHaveBeenTaken(life: life)
        if entry.hasOneAttempt, mayHaveBeenTaken {
            violate(
                2, "entry \(entry.uid) was handed out again although a copy may have been taken, and it has one attempt"
            )
        }
        if mayHaveBeenTaken || entry.isPossiblySentByRule || entry.isFlagged {
            rules.duplicates += 1
            note("entry \(entry.uid) goes as a possible duplicate")
        }
    }

    /// First hand-outs in the order of the UIDs; what goes again goes before them.
    ///
    /// - Parameter earlier: what goes out in the same hand-out before it.
    private func checkOrder(_ entry: LedgerEntry, behind earlier: [UID], on peer: any Peer) {
        guard !entry.wasDeferred, !entry.copies.contains(where: { $0.life == life }) else { return }
        let stream = RuleState.Stream(lane: entry.lane, connection: peer.number)
        if let last = rules.lastFirst[stream], last > entry.uid, !mayBeHeld(entry) {
            violate(5, "entry \(entry.uid) of \(entry.lane) was handed out for the first time after \(last)")
        }
        // It tries whatever its credentials were not refused for.
        entry.wasTriedAhead = isStopped(entry.lane)
        guard !entry.wasTriedAhead else { return }
        rules.lastFirst[stream] = max(entry.uid, rules.lastFirst[stream] ?? .none)
        let waiting = ledger.open.first { other in
            // One that can't be read goes nowhere.
            other.lane == entry.lane && !other.isDamaged && other.isRequeued(life: life, turn: turns)
                && !earlier.contains(other.uid) && !mayBeAccused(other)
                // Another connector's Consumer reads everything anew, in order.
                && other.lastCopy?.consumer == peer.consumer
                // What it was tried ahead of is still before it.
                && !(other.wasTriedAhead && other.uid > entry.uid)
        }
        if let waiting { rules.overtaken.append((entry.uid, waiting)) }
    }

    /// Looks at the end of a turn, since an entry that must not go any more is settled only after the hand-outs of its turn.
    func checkOvertaken() {
        for (entry, waiting) in rules.overtaken
        where waiting.outcome == nil && waiting.requested.isEmpty && !waiting.deferralIsAsked {
            violate(5, "entry \(entry) was handed out for the first time, before \(waiting.uid), which goes again")
        }
        rules.overtaken = []
    }

    private func isStopped(_ lane: LaneKey) -> Bool {
        !rules.stopped.isEmpty && snapshot.lanes.contains { $0.lane.key == lane && rules.stopped.contains($0.id) }
    }

    /// Its token was under suspicion at some time: such entries are held, and go later than their place.
    private func mayBeHeld(_ entry: LedgerEntry) -> Bool {
        entry.notification.recipient.device.map(ledger.suspects.contains) ?? false
    }

    /// In flight: handed out, and not durably settled.
    private func checkWindow(of route: Int, adding uids: [UID]) {
        let new = Set(uids)
        let name = routes[route].name
        let inFlight = ledger.open.count {
            $0.lane.route == name && (new.contains($0.uid) || $0.isInFlight(life: life))
        }
        let limit = windowLimit(of: route)
        if inFlight > limit {
            violate(3, "\(inFlight) entries of route \(name) are in flight; its window is \(limit)")
        }
    }

    /// No more connections take hand-outs than the route is to have, and each has a window of its own.
    private func checkConnections(of peer: any Peer, adding count: Int) {
        if rules.givenInTurn.turn != turns { rules.givenInTurn = (turns, []) }
        rules.givenInTurn.connections.insert(peer.number)
        let given = rules.givenInTurn.connections
        if given.count > terms[peer.route].connections {
            violate(7, "in one turn route \(peer.route) has given entries to its connections \(given)")
        }
        guard peer.route == 1 else { return }
        let inFlight = ledger.open.count { entry in
            entry.isInFlight(life: life) && entry.lane.route == routes[1].name
                && entry.lastCopy?.connection == peer.number
        }
        let window = swarm.engine.cumulativeWindow
        if inFlight + count > window {
            violate(3, "\(inFlight + count) are in flight on connection \(peer.number); its window is \(window)")
        }
    }

    /// The last door holds back what a fault would hand out a second time. Nothing may come to it, but for what was deferred
    /// by a commit that was told as failed: it may be due and come back before that is tried again.
    func checkLastDoor() {
        guard !rules.hasFailed, let refused = core?.status().secondHandOuts, refused > 0 else { return }
        violate(3, "\(refused) entries were to be handed out while they were in flight")
    }

    func windowLimit(of route: Int) -> Int {
        route == 1 ? swarm.engine.cumulativeWindow * terms[route].connections : swarm.engine.window
    }
}

extension PushNotification {
    func isExpired(at wall: WallTime) -> Bool {
        guard let seconds = expiration?.deadline else { return false }
        return seconds <= wall.seconds
    }
}

extension InMemoryDisk {
    /// The entry of the blacklist that forbids a notification in its lane.
    ///
    /// - Parameter now: nil takes none for expired.
    func blacklistEntry(
        against entry: LedgerEntry, registeredAt: WallTime? = nil, now: WallTime? = nil
    ) -> BlacklistEntry? {
        guard let device = entry.notification.recipient.device, let known = blacklist[device] else { return nil }
        let endpoint = SimulatedConnector.endpoint(of: entry.lane.route)
        // Not the engine's own rule, but the same in other words.
        let forbidding = known.entries.filter { black in
            let isOfTopic = black.topic.map { $0 == entry.notification.topic } ?? true
            let isOfService = black.endpoint.map { $0 == endpoint } ?? true
            let isLifted = registeredAt.map { $0 > black.since } ?? false
            let isOver = black.expiresAt.flatMap { end in now.map { end <= $0 } } ?? false
            return isOfTopic && isOfService && !isLifted && !isOver
        }
        return forbidding.max { $0.since < $1.since }
    }
}
