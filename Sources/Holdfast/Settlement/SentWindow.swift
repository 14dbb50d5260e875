/// The entries in flight on one connection: handed to it and not yet durably settled.
///
/// An entry leaves the window when its settlement is durable, not when its answer arrives. Otherwise a million entries could
/// pass while a disk stalls for two seconds, and a crash would send all of them again. Nothing is ever evicted.
///
/// A pure machine. Every hand-out has its own ``Ticket``; a second answer to a ticket gets `nil`.
package struct SentWindow: Sendable {
    /// One entry's stay in the window.
    package struct Flight: Hashable, Sendable {
        /// Index of the lane in its Consumer.
        let lane: Int
        let uid: UID
        /// How often it was answered "not now", or with nothing known, before.
        let attempts: UInt16
        /// Whether an earlier hand-out of it, in this process or before a crash, may have reached the service.
        let possiblySentBefore: Bool
        /// It has one attempt: by its guarantee, or because its expiration is 0.
        let hasOneAttempt: Bool
        /// It is for a channel: nothing that is said of it is said of a token.
        let isBroadcast: Bool
        /// Whether it came from the lane of the other environment: see ``Settlement/Kind/move(to:due:reason:possiblySent:)``.
        let isMoved: Bool
        /// The number of its topic: see ``TopicBreakers``.
        let topic: UInt32
        /// How many the connection was given before it. The number goes round. Written by the window.
        fileprivate(set) var place: UInt32 = 0
        /// The mark of its device or channel: see ``RefusedEntries``.
        let recipient: UInt64
        let acceptedAt: WallTime
        /// Since when it could go: when it was accepted, or the later time before which it was not to be delivered. The
        /// greatest time for one that goes at some hours of the day only, which is not timed.
        let dueAt: WallTime
        /// When it was handed out, in the ticks of ``AnswerClock``; written by the window.
        fileprivate(set) var handedOutAt: UInt32 = 0
        /// In which of its Consumer's turns; written by the window.
        fileprivate(set) var handedOutIn: UInt32 = 0

        package init(
            lane: Int, uid: UID, attempts: UInt16, possiblySentBefore: Bool, hasOneAttempt: Bool,
            isBroadcast: Bool = false, isMoved: Bool = false, topic: UInt32 = 0, recipient: UInt64 = 0,
            acceptedAt: WallTime, dueAt: WallTime? = nil
        ) {
            self.lane = lane
            self.uid = uid
            self.attempts = attempts
            self.possiblySentBefore = possiblySentBefore
            self.hasOneAttempt = hasOneAttempt
            self.isBroadcast = isBroadcast
            self.isMoved = isMoved
            self.topic = topic
            self.recipient = recipient
            self.acceptedAt = acceptedAt
            self.dueAt = dueAt ?? acceptedAt
        }

        /// - Parameter possiblySent: what is known of that beside the entry's record.
        init(
            _ item: EntryBatch.Item, _ fields: PackedNotification.Fields, lane: Int, hasOneAttempt: Bool,
            topic: UInt32 = 0, recipient: UInt64 = 0, possiblySent: Bool
        ) {
            self.init(
                lane: lane, uid: item.uid, attempts: item.attempts,
                possiblySentBefore: item.isPossiblySent || possiblySent, hasOneAttempt: hasOneAttempt,
                isBroadcast: fields.isBroadcast, isMoved: item.isMoved, topic: topic, recipient: recipient,
                acceptedAt: fields.acceptedAt, dueAt: fields.dueAt)
        }
    }

    private enum State {
        case free
        /// With the connection, not answered.
        case handedOut
        /// Sent, and taken back by an operator, which is not durable yet: its answer is ignored.
        case disowned
        /// Sent, and taken back durably: its answer is ignored.
        case abandoned
        /// Answered, or never handed out; its settlement is not on disk yet.
        case settling

        /// Whether it was sent, and has no answer.
        var isUnanswered: Bool {
            switch self {
            case .handedOut, .disowned, .abandoned: true
            case .free, .settling: false
            }
        }
    }

    private struct Slot {
        var flight: Flight
        var generation: UInt32
        var state: State
    }

    private var slots: [Slot] = []
    private var freeSlots: [UInt32] = []

    /// Entries that are with the connection and not answered.
    private(set) var unanswered = 0
    /// Entries whose settlement is not on disk yet.
    private(set) var settling = 0

    /// How long answers took.
    private var clock = AnswerClock()
    private var lastHandOut: UInt32 = 0
    private var turn: UInt32 = 0
    private var nextPlace: UInt32 = 0

    /// Entries in flight: what counts against the window's limit.
    var count: Int { unanswered + settling }

    init() {}

    /// An entry goes to the connection.
    mutating func handOut(_ flight: Flight) -> Ticket {
        unanswered += 1
        lastHandOut = clock.now
        return occupy(flight, .handedOut)
    }

    /// Ignores any answer to this entry from now on. Its place is free when it has been answered, and
    /// ``withdrawn(lane:_:)`` besides.
    mutating func disown(lane: Int, _ uid: UID) {
        if let slot = slot(of: lane, uid) { slots[slot].state = .disowned }
    }

    /// Records that an entry was taken back durably.
    mutating func withdrawn(lane: Int, _ uid: UID) {
        for slot in slots.indices where slots[slot].flight.uid == uid && slots[slot].flight.lane == lane {
            switch slots[slot].state {
            case .disowned:
                slots[slot].state = .abandoned
            case .settling:
                settling -= 1
                free(slot)
            case .free, .handedOut, .abandoned: break
            }
        }
    }

    /// For how long the entry has been with the connection; nil for one that is not, or has its answer.
    func timeOut(lane: Int, _ uid: UID) -> Duration? {
        slot(of: lane, uid).map { timeOut(slots[$0].flight) }
    }

    /// For how long an entry without an answer has been with the connection.
    func timeOut(_ flight: Flight) -> Duration { clock.time(since: flight.handedOutAt) }

    /// How long ago the last entry went to the connection.
    var timeSinceHandOut: Duration { clock.time(since: lastHandOut) }

    private func slot(of lane: Int, _ uid: UID) -> Int? {
        slots.firstIndex { $0.state == .handedOut && $0.flight.uid == uid && $0.flight.lane == lane }
    }

    /// An entry is settled without having been sent (expired, blacklisted); it counts until that is on disk.
    mutating func settleUnsent(_ flight: Flight) -> Ticket {
        settling += 1
        return occupy(flight, .settling)
    }

    /// The connection has answered for a ticket, which from now on waits for its settlement, or for ``release(_:)``.
    ///
    /// - Returns: nil when the ticket was answered before: the first answer counts.
    mutating func answer(_ ticket: Ticket) -> Flight? {
        guard let (slot, counts) = endStay(of: ticket) else { return nil }
        clock.answered(handedOutAt: slots[slot].flight.handedOutAt)
        return counts ? slots[slot].flight : nil
    }

    /// The connection has ended without an answer for a ticket. As for ``answer(_:)``, but nothing is said about times.
    mutating func giveUp(_ ticket: Ticket) -> Flight? {
        endStay(of: ticket).flatMap { slot, counts in counts ? slots[slot].flight : nil }
    }

    /// - Returns: the place, and whether anybody wants the answer; nil when the ticket was answered before.
    private mutating func endStay(of ticket: Ticket) -> (slot: Int, counts: Bool)? {
        guard let slot = slot(of: ticket) else { return nil }
        switch slots[slot].state {
        case .free, .settling:
            return nil
        case .abandoned:
            unanswered -= 1
            free(slot)
            return (slot, false)
        case .handedOut, .disowned:
            let counts = slots[slot].state == .handedOut
            slots[slot].state = .settling
            unanswered -= 1
            settling += 1
            return (slot, counts)
        }
    }

    /// The entries among `uids` (ascending) that are in flight.
    func inFlight(lane: Int, among uids: [UID]) -> [UID] {
        guard count > 0, let first = uids.first, let last = uids.last else { return [] }
        let near = slots.filter { slot in
            slot.state != .free && slot.flight.lane == lane && slot.flight.uid >= first && slot.flight.uid <= last
        }
        guard !near.isEmpty else { return [] }
        // What goes again has gaps, and in them lies what is in flight.
        let wanted = Set(uids)
        return near.map(\.flight.uid).filter { wanted.contains($0) }
    }

    /// Sets the time, by the monotonic clock, of hand-outs and answers from here on.
    ///
    /// - Parameter turn: the number of the Consumer's turn.
    mutating func look(now: Duration, turn: UInt32) {
        clock.look(now: now)
        self.turn = turn
    }

    /// Moves how long the answers took that came since the last call to `tally`.
    mutating func moveAnswerTimes(to tally: inout LatencyTally) { clock.move(to: &tally) }

    /// The settlement is on disk, or the entry went back to its lane.
    ///
    /// - Returns: what was released; nil when there was nothing.
    @discardableResult
    mutating func release(_ ticket: Ticket) -> Flight? {
        guard let slot = slot(of: ticket), slots[slot].state == .settling else { return nil }
        settling -= 1
        free(slot)
        return slots[slot].flight
    }

    private mutating func free(_ slot: Int) {
        slots[slot].state = .free
        slots[slot].generation &+= 1
        freeSlots.append(UInt32(slot))
    }

    /// The entry of a ticket that waits for its settlement; `nil` for any other ticket.
    func settling(_ ticket: Ticket) -> Flight? {
        guard let slot = slot(of: ticket), slots[slot].state == .settling else { return nil }
        return slots[slot].flight
    }

    /// All that are not answered, in the order of their UIDs.
    func unansweredTickets() -> [Ticket] {
        slots.indices
            .filter { slots[$0].state.isUnanswered }
            .sorted { slots[$0].flight.uid < slots[$1].flight.uid }
            .map { ticket(of: $0) }
    }

    /// The entries without an answer: `open` are those that the service works on, and `waiting` those that wait in the connection.
    ///
    /// - Parameter streams: the number of entries that the service works on at a time. Those that were given first come first.
    func flights(onStreams streams: Int) -> (open: ArraySlice<Flight>, waiting: ArraySlice<Flight>) {
        var unanswered = slots.filter { $0.state.isUnanswered }.map(\.flight)[...]
        guard unanswered.count > streams else { return (unanswered, []) }
        unanswered.sort { $1.place.isTurn(after: $0.place) }
        return (unanswered.prefix(streams), unanswered.dropFirst(streams))
    }

    /// Whether every request without an answer is of such a topic.
    func isEachUnanswered(of isSuch: (UInt32) -> Bool) -> Bool {
        slots.allSatisfy { !$0.state.isUnanswered || isSuch($0.flight.topic) }
    }

    private mutating func occupy(_ flight: Flight, _ state: State) -> Ticket {
        var flight = flight
        flight.handedOutAt = clock.now
        flight.handedOutIn = turn
        flight.place = nextPlace
        nextPlace &+= 1
        if let free = freeSlots.popLast() {
            slots[Int(free)].flight = flight
            slots[Int(free)].state = state
            return ticket(of: Int(free))
        }
        slots.append(Slot(flight: flight, generation: 0, state: state))
        return ticket(of: slots.count - 1)
    }

    private func ticket(of slot: Int) -> Ticket {
        Ticket(rawValue: UInt64(slots[slot].generation) << 32 | UInt64(slot))
    }

    private func slot(of ticket: Ticket) -> Int? {
        let slot = Int(ticket.rawValue & 0xFFFF_FFFF)
        guard slot < slots.count, slots[slot].generation == UInt32(ticket.rawValue >> 32) else { return nil }
        return slot
    }
}
