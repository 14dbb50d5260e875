internal import Holdfast

/// A connection on which silence is success, with the service behind it: the binary APNs protocol.
final class CumulativePeer: Peer, CumulativeConnection, @unchecked Sendable {  // confined to the simulation's thread
    /// What the service has written before it closed.
    private enum Frame {
        case payloadError(PayloadError)
        case barrier(through: UInt64)
        /// It has closed without a word.
        case nothing
    }

    private struct Item {
        let entry: LedgerEntry
        let copy: Int
    }

    unowned let world: World
    let route: Int
    let consumer: Int
    let number: Int
    let life: Int
    let capacity: Int
    private var items: [Item] = []
    /// Positions up to these: with the kernel, away from this machine, told to the engine, seen by the service.
    private var written = 0
    private var left = 0
    private var reported = 0
    private var processed = 0
    private var barrier: Int?
    private var frame: (Frame, arrivesAt: Duration)?
    /// The last word is lost on the way.
    private var isFrameLost = false
    private var stalledUntil: Duration = .zero
    private var listens: [UInt64] = []
    private(set) var isOver = false
    private(set) var toldToStopInTurn: Int?
    private var closesAt: Duration?
    /// Everything up to here was proven, by what the engine was told.
    private(set) var provenThrough = 0
    /// The engine was told of an error at this position.
    private(set) var toldErrorAt: UInt64?
    /// The engine was told that this was heard, at that time.
    private(set) var listenedAt: Duration?

    init(world: World, route: Int, number: Int) {
        self.world = world
        self.route = route
        consumer = world.consumers[route]
        self.number = number
        life = world.life
        capacity = world.swarm.cumulativeCapacity
    }

    var unanswered: Int { items.count - reported }

    // MARK: The engine's side

    func send(_ handOut: HandOut) {
        world.checkHandOut(handOut, to: self)
        if barrier != nil { world.violate(0, "something was handed to connection \(number) behind its barrier") }
        for (index, item) in handOut.entries.items.enumerated() {
            guard let entry = world.ledger[item.uid] else { continue }
            let position = items.count + 1
            if handOut.tickets[index] != .position(UInt64(position)) {
                world.violate(
                    0, "entry \(item.uid) came with ticket \(handOut.tickets[index].rawValue), not \(position)")
            }
            world.append(entry, to: self)
            let copy = entry.copies.count - 1
            if isOver { tell(entry, copy, .notProcessed) }
            items.append(Item(entry: entry, copy: copy))
        }
    }

    func listen(stamp: UInt64) {
        guard !isOver else { return }
        listens.append(stamp)
    }

    var canWriteBarrier: Bool { !world.swarm.refusesBarriers }

    func writeBarrier() {
        if barrier != nil { world.violate(0, "connection \(number) was given two barriers") }
        barrier = items.count
        toldToStopInTurn = toldToStopInTurn ?? world.turns
    }

    func close(deadline: Duration) {
        guard !isOver, closesAt == nil else { return }
        closesAt = world.now + deadline
        toldToStopInTurn = toldToStopInTurn ?? world.turns
    }

    private func sink(_ event: ConnectorEvent) { world.deliver(event, from: self) }

    private func tell(_ entry: LedgerEntry, _ copy: Int, _ word: Copy.Word) {
        guard life == world.life, entry.copies[copy].word == .outstanding else { return }
        entry.copies[copy].word = word
        entry.copies[copy].toldBeforeTurn = world.turns
        entry.copies[copy].wasLeft = word == .unknown && !entry.hasOneAttempt
        world.told(word, of: entry, copy: copy)
    }

    private func tell(_ positions: Range<Int>, _ word: Copy.Word) {
        for position in positions.clamped(to: 1..<items.count + 1) {
            tell(items[position - 1].entry, items[position - 1].copy, word)
        }
    }

    // MARK: The wire

    var nextDue: Duration? {
        guard !isOver else { return nil }
        var dues: [Duration] = []
        if !listens.isEmpty { return world.now }
        if written < items.count || (left < written && stalledUntil <= world.now) || reported < left {
            return world.now
        }
        if stalledUntil > world.now { dues.append(stalledUntil) }
        if let frame { dues.append(max(frame.arrivesAt, world.now)) } else if hasToProcess { return world.now }
        if let closesAt { dues.append(max(closesAt, world.now)) }
        return dues.min()
    }

    private var hasToProcess: Bool { processed < left || (barrier == processed && left == items.count) }

    func progress() {
        guard !isOver else { return }
        if world.strikes(.stopsReading) { stalledUntil = world.now + world.dice.duration(milliseconds: 100...30_000) }
        if written < items.count { written = step(written, to: items.count) }
        if stalledUntil <= world.now, left < written {
            let before = left
            left = step(left, to: written)
            for item in items[before..<left] { item.entry.copies[item.copy].leftAt = world.now }
        }
        process()
        if reported < left, world.isHealing || world.dice.chance(0.7) {
            reported = left
            sink(.sent(through: .position(UInt64(left))))
        }
        hear()
        guard !isOver else { return }
        if toldToStopInTurn == nil, world.strikes(.drains, times: 3) { drain() }
        if let closesAt, left == items.count && frame == nil || closesAt <= world.now { end(knowing: true, cause: nil) }
        if world.strikes(.diesKnowing) { end(knowing: true, cause: "reset") }
        if world.strikes(.diesUnknowing) { end(knowing: false, cause: "reset") }
    }

    /// It has been idle for too long, or whatever the connector does not like: others are to be used.
    private func drain() {
        toldToStopInTurn = world.turns
        sink(.draining)
    }

    private func step(_ from: Int, to end: Int) -> Int {
        world.isHealing ? end : from + world.dice.number(0...end - from)
    }

    /// The service reads in order, and stops at the first that it does not like.
    private func process() {
        while frame == nil, processed < left {
            let item = items[processed]
            processed += 1
            if world.connectionEnders.contains(item.entry.uid) { return say(.nothing) }
            if let result = world.decideBinary(item.entry, copy: item.copy) {
                say(.payloadError(PayloadError(position: .position(UInt64(processed)), kind: .refused(result))))
            } else if world.strikes(.lastGood, times: 3) {
                say(.payloadError(PayloadError(position: .position(UInt64(processed)), kind: .lastGood)))
            } else if world.strikes(.neverIssued, times: 3) {
                let position = UInt64(1_000_000 + world.dice.number(1...100))
                say(.payloadError(PayloadError(position: .position(position), kind: .refused(.badInPrinciple))))
            }
        }
        if frame == nil, let barrier, processed == barrier, left == items.count {
            say(world.strikes(.barrierUnanswered, times: 6) ? .nothing : .barrier(through: UInt64(barrier)))
        }
    }

    private func say(_ what: Frame) {
        var delay: Duration = world.isHealing ? .zero : .milliseconds(world.dice.number(0...50))
        if world.strikes(.errorLate, times: 6) { delay += (world.swarm.quietPeriod ?? .seconds(1)) * 2 }
        if world.strikes(.errorLost, times: 6) { isFrameLost = true }
        frame = (what, world.now + delay)
    }

    /// Whether an error that the service has written was to arrive later than silence would have been believed.
    func excusesQuiet(at position: Int, quietPeriod: Duration) -> Bool {
        guard let frame, let leftAt = items[position - 1].entry.copies[items[position - 1].copy].leftAt else {
            return false
        }
        return isFrameLost || frame.arrivesAt > leftAt + quietPeriod
    }

    func position(of entry: LedgerEntry, copy: Int) -> Int? {
        items.firstIndex { $0.entry === entry && $0.copy == copy }.map { $0 + 1 }
    }

    /// Reads what has come, and answers those who asked whether something has.
    private func hear() {
        if let (what, arrivesAt) = frame, arrivesAt <= world.now {
            guard listens.isEmpty || !world.dice.chance(0.01) else { return }
            conclude(what)
            return end(knowing: true, cause: "the service has closed")
        }
        guard world.isHealing || world.dice.chance(0.6) else { return }
        for stamp in listens {
            listenedAt = world.now
            sink(.listened(stamp: stamp))
        }
        listens = []
    }

    private func conclude(_ frame: Frame) {
        guard !isFrameLost else { return }
        switch frame {
        case .nothing: break
        case .barrier(let through):
            tell(1..<Int(through) + 1, .taken)
            sink(.barrierAnswered(through: .position(through)))
        case .payloadError(let error):
            let position = Int(error.position.rawValue)
            if position > items.count {
                tell(1..<items.count + 1, .unknown)
            } else if case .refused(let result) = error.kind {
                tell(1..<position, .taken)
                tell(position..<position + 1, Copy.Word(result))
                tell(position + 1..<items.count + 1, .notProcessed)
            } else {
                tell(1..<position + 1, .taken)
                tell(position + 1..<items.count + 1, .notProcessed)
            }
            toldErrorAt = error.position.rawValue
            sink(.payloadError(error))
        }
    }

    private func end(knowing: Bool, cause: String?) {
        guard !isOver else { return }
        isOver = true
        toldToStopInTurn = toldToStopInTurn ?? world.turns
        let isSilent = frame == nil
        if knowing { tell(written + 1..<items.count + 1, .notProcessed) }
        tell(1..<items.count + 1, .unknown)
        if isSilent { letGo() }
        sink(.ended(ConnectionEnd(possiblySentThrough: knowing ? .position(UInt64(written)) : nil, cause: cause)))
    }

    /// What is on the wire may still be read by the service.
    private func letGo() {
        guard processed < written else { return }
        for item in items[processed..<world.dice.number(processed...written)] {
            world.stragglers.append((item.entry, item.copy))
        }
    }

    func abandon() {
        guard !isOver else { return }
        isOver = true
        if frame == nil { letGo() }
    }
}

extension SendResult {
    /// What an error says of a notification that nobody sent.
    fileprivate static let badInPrinciple = SendResult(.rejected(.notification), reason: .payloadEmpty)
}
