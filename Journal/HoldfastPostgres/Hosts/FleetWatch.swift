internal import Foundation
internal import Holdfast
package import HoldfastPQ

/// Watches the journals of all hosts on a thread of its own, and takes over those of hosts that are gone.
package final class FleetWatch: Sendable {
    /// A journal that was taken, and has to be opened.
    package struct Taken: Sendable {
        package let journal: ListedJournal
        package let ownership: JournalLease.Taken
    }

    /// Whether the journal that this host accepts into has no room, and the journals of the other hosts that live.
    package typealias Fullness = @Sendable () -> (isFull: Bool, others: Set<Int32>)

    private struct State {
        var mine: Set<Int32>
        var journals: [ListedJournal] = []
        var trouble: String?
        var clockOffset: Duration?
        var room = TakeoverRoom()
        var refusals = TakeoverRefusals()
        var full: Set<Int32> = []
        /// The epochs of the journals that were taken, until they are known to be released.
        var epochs: [Int32: Int64] = [:]
        var isUnwanted = false
    }

    private let terms: HostTerms
    private let census: CopyCensus
    private let directory: HostDirectory
    private let onNews: @Sendable (HostNews) -> Void
    private let limit: Int
    /// The journals that were taken; ``leave(_:)`` follows for each. Ends when the watch has taken its last one.
    package let taken: AsyncStream<Taken>
    private let onTaken: AsyncStream<Taken>.Continuation
    private let onLook: @Sendable (_ journals: [ListedJournal], _ mine: Set<Int32>) -> Void
    private let delay: @Sendable () -> Duration
    private let available: @Sendable () -> Int?
    private let fullness: Fullness
    private let own: Int32
    private let board: Monitor<State>
    private let interruption: PQInterruption

    /// - Parameters:
    ///   - mine: the journal that this host accepts into.
    ///   - limit: how many journals of others it has at once.
    ///   - onLook: called on the watch's thread with all journals, and the numbers of those that this host has.
    ///   - delay: how long nobody must have taken a journal before this host does. Asked on the watch's thread, behind `onLook`.
    ///   - available: bytes that are free for working copies; nil asks the file system of the host's directory.
    ///   - fullness: asked on the watch's thread, behind `onLook`.
    /// - Throws: `unreachable` when the process has no descriptors left.
    package init(
        _ host: HostJournals, mine: Int32, limit: Int = 8,
        onLook: @escaping @Sendable (_ journals: [ListedJournal], _ mine: Set<Int32>) -> Void = { _, _ in },
        delay: @escaping @Sendable () -> Duration = { .zero }, available: (@Sendable () -> Int?)? = nil,
        fullness: @escaping Fullness = { (false, []) }
    ) throws(PQError) {
        terms = host.terms
        census = host.census
        directory = host.directory
        onNews = host.onNews
        self.limit = limit
        self.onLook = onLook
        self.delay = delay
        self.fullness = fullness
        own = mine
        let place = host.directory
        self.available = available ?? { place.availableBytes }
        (taken, onTaken) = AsyncStream.makeStream()
        board = Monitor(State(mine: [mine]))
        interruption = try PQInterruption()
        let thread = Thread { [self] in run() }
        thread.name = "holdfast-fleet"
        thread.start()
    }

    /// All journals as they were at the last look.
    package var journals: [ListedJournal] { board.withLock(\.journals) }

    /// Why the last look failed; `nil` after one that did not.
    package var trouble: String? { board.withLock(\.trouble) }

    /// By how much this machine's wall clock was ahead of the database's at the last look, to some milliseconds; `nil` before one.
    package var clockOffset: Duration? { board.withLock(\.clockOffset) }

    /// A journal that is not taken, since its working copy has no room on this host; `nil` while there is none.
    package var wantOfRoom: TakeoverRoom.Want? { board.withLock(\.room.want) }

    /// Of the other hosts that live, the journals of those that had no room at the last look. Only known while this host has none.
    package var full: Set<Int32> { board.withLock(\.full) }

    /// The journals that are not taken over, since this host can't open them, with how long each is not tried yet.
    package var refusals: [(refusal: TakeoverRefusals.Refusal, pause: Duration)] {
        let now = terms.clock.monotonic()
        return board.withLock { $0.refusals.pauses(at: now) }
    }

    /// Whether the journal could not be opened when it was taken last.
    package func isRefused(_ journal: Int32) -> Bool { board.withLock { $0.refusals.contains(journal) } }

    /// This host can't open the journal that was taken. ``leave(_:)`` follows.
    ///
    /// - Returns: whether that is news.
    package func refused(_ journal: ListedJournal, _ refusal: TakeoverRefusals.Refusal) -> Bool {
        let now = terms.clock.monotonic()
        return board.change { $0.refusals.refused(journal.id, refusal, at: now) }
    }

    /// This host's keys may be others than before: what they did not open is tried at the next look.
    package func tryRefused() { board.change { $0.refusals.tryNow() } }

    /// The journal that was taken is open.
    package func opened(_ journal: Int32) {
        board.change { state in
            state.room.opened(journal)
            state.refusals.opened(journal)
        }
    }

    /// This host does not have the journal any more.
    ///
    /// - Parameter lacksRoom: whether that is because this host's disk is full.
    package func leave(_ journal: Int32, lacksRoom: Bool = false) {
        let (free, now): (Int?, Duration) = lacksRoom ? (available(), terms.clock.monotonic()) : (nil, .zero)
        board.change { state in
            state.room.left(journal)
            if lacksRoom { state.room.failed(available: free, at: now) }
            state.mine.remove(journal)
        }
    }

    /// Takes nothing more. Does not wait for a call under way, which may still take a journal.
    package func stop() {
        board.change { $0.isUnwanted = true }
        interruption.interrupt()
    }

    private func run() {
        let calls = OwnershipCalls(terms.schema)
        var machine = TakeoverMachine(terms.times)
        // As of which the copies were looked at, and those that are ahead of the database.
        var incarnation = ""
        var ahead: [Int32: UInt64] = [:]
        var told: Set<String> = []
        // Copies are looked at again for a while: one that is being closed can't be read yet.
        var censusEnd = Duration.zero
        var memory = FleetMemory(in: directory.path)
        var rooms = RoomNotes(terms.schema, journal: own)
        var session = ServiceSession(terms.target, terms.schema, name: "holdfast fleet", interruption)
        while !board.withLock(\.isUnwanted) {
            do throws(PQError) {
                let (connection, isNew) = try session.opened(by: .now + terms.connecting)
                if isNew {
                    machine.sessionEnded()
                    rooms.sessionEnded()
                }
                // What this host remembers comes before what it has: others wait for both.
                try memory.look(
                    with: board.withLock(\.mine), FleetCalls(terms.schema), connection, by: deadline)
                let now = try FleetCalls(terms.schema).look(connection, by: deadline).incarnation
                if now != incarnation { censusEnd = terms.clock.monotonic() + terms.times.takeAfter * 3 }
                if !ahead.isEmpty || terms.clock.monotonic() < censusEnd {
                    let state = try FleetState(terms.schema, connection, by: .now + terms.answer)
                    let found = try census.take(except: board.withLock(\.mine), of: state, connection)
                    (ahead, incarnation) = (found.ahead, now)
                    for (path, copy) in found.useless where told.insert(path).inserted {
                        onNews(.setAside(journal: copy.name, copy: path, why: copy.why))
                    }
                }
                try look(calls, &machine, ahead, connection)
                try releaseLeft(calls, connection)
                try exchange(&rooms, connection)
                board.change { $0.trouble = nil }
            } catch {
                session.close()
                board.change { $0.trouble = $0.isUnwanted ? nil : error.description }
            }
            board.wait(terms.times.beat) { $0.isUnwanted }
        }
        session.close()
        onTaken.finish()
    }

    private func look(
        _ calls: OwnershipCalls, _ machine: inout TakeoverMachine, _ ahead: [Int32: UInt64],
        _ connection: PQConnection
    ) throws(PQError) {
        let journals = try calls.list(connection, by: deadline)
        let theirs = try FleetCalls(terms.schema).now(connection, by: deadline)
        let offset = terms.clock.wall().since(theirs)
        let mine = board.withLock(\.mine)
        board.change { ($0.journals, $0.clockOffset) = (journals, offset) }
        onLook(journals, mine)
        let now = terms.clock.monotonic()
        let room = limit + 1 - mine.count
        let paused = board.change { state in
            state.refusals.looked(journals, mine: mine, at: now)
            return state.refusals.paused(at: now)
        }
        // One that can't be opened keeps no other from being taken.
        let found = machine.looked(
            journals, mine: mine, ahead: Set(ahead.keys), room: room + paused.count, delay: delay(), at: now
        ).filter { !paused.contains($0.id) }.prefix(max(room, 0))
        board.change { $0.room.beginLook() }
        for journal in found {
            guard !board.withLock(\.isUnwanted) else { return }
            let needed = try roomNeeded(for: journal, isAhead: ahead[journal.id] != nil, connection)
            guard hasRoom(for: journal, needed) else { continue }
            let sent = terms.clock.monotonic()
            let epoch = try calls.take(
                journal.id, seen: journal.sighting, host: terms.host, grace: terms.times.takeAfter,
                claim: ahead[journal.id] ?? 0, connection, by: deadline)
            // Another host was faster, or the owner is back.
            guard let epoch else { continue }
            board.change { state in
                state.mine.insert(journal.id)
                state.room.took(journal.id, needed: needed)
                state.epochs[journal.id] = epoch
            }
            onTaken.yield(Taken(journal: journal, ownership: JournalLease.Taken(epoch: epoch, sent: sent)))
        }
        board.change { $0.room.endLook() }
    }

    /// Releases what this host has given back, where its lease had no session to do so: others would wait as for a host that is lost.
    private func releaseLeft(_ calls: OwnershipCalls, _ connection: PQConnection) throws(PQError) {
        let (journals, left) = board.withLock { state in
            (state.journals, state.epochs.filter { !state.mine.contains($0.key) })
        }
        for (journal, epoch) in left {
            let sighting = journals.first { $0.id == journal }?.sighting
            if let sighting, sighting.epoch == epoch, !sighting.isFree {
                do throws(PQError) {
                    try calls.release(journal, epoch: epoch, connection, by: deadline)
                } catch {
                    // Somebody has taken it meanwhile.
                    guard error.sqlState == OwnershipCalls.lostState else { throw error }
                }
            }
            board.change { state in
                // It may have been taken again.
                if state.epochs[journal] == epoch { state.epochs[journal] = nil }
            }
        }
    }

    /// Tells others whether this host has room, and asks which of them have none.
    private func exchange(_ rooms: inout RoomNotes, _ connection: PQConnection) throws(PQError) {
        let (isFull, others) = fullness()
        try rooms.tell(isFull: isFull, connection, by: deadline)
        let full: Set<Int32> = try isFull ? rooms.full(among: others, connection, by: deadline) : []
        board.change { $0.full = full }
    }

    /// - Parameter isAhead: whether nobody else has all of it. Then it is taken into the copy that is there, as long as that goes.
    private func roomNeeded(
        for journal: ListedJournal, isAhead: Bool, _ connection: PQConnection
    ) throws(PQError) -> Int {
        if isAhead { return 0 }
        let log = try LogCalls(terms.schema, journal: journal.id).state(connection, by: deadline)
        return directory.roomNeeded(
            for: journal.id, byteCount: log.checkpointByteCount + log.logByteCount, terms.options)
    }

    private func hasRoom(for journal: ListedJournal, _ needed: Int) -> Bool {
        let (free, now) = (available(), terms.clock.monotonic())
        return board.change { $0.room.mayTake(journal.name, needed: needed, available: free, at: now) }
    }

    private var deadline: ContinuousClock.Instant { .now + terms.times.answer }
}
