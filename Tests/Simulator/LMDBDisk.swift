import Foundation
import Holdfast
import HoldfastJournal
import HoldfastTesting

/// The real journal, stepped by a simulation: its transactions and tables are those of any process, and nothing is synced.
final class LMDBDisk: SimulatedDisk {
    /// What is to fail, asked by the journal at each commit and read.
    private final class Faults: Sendable {
        struct State: Sendable {
            var writesFail = false
            var readsFail = false
            var blacklistFails = false
            /// How the next commit ends.
            var next: StorageFaults.Commit?
        }

        let state = Monitor(State())

        var storage: StorageFaults {
            var faults = StorageFaults()
            faults.entriesCommit = { [state] in
                state.withLock { state in
                    defer { state.next = nil }
                    return state.next ?? (state.writesFail ? .diskFull : nil)
                }
            }
            faults.blacklistCommit = { [state] in state.withLock { $0.blacklistFails ? .diskFull : nil } }
            faults.read = { [state] in
                state.withLock { $0.readsFail ? JournalError(.inputOutput, "a read failed") : nil }
            }
            return faults
        }
    }

    private let directory: String
    private let seed: UInt64
    private let faults = Faults()
    private var open: LMDBJournal
    private(set) var isIdle = true
    /// Looks at the journal beside the engine; nil when it was not needed yet.
    private var looking: JournalReader?
    /// Notifications that the reader has told of.
    private var packed: [UID: [UInt8]] = [:]

    /// A new journal in a directory of its own.
    init(seed: UInt64) throws {
        self.seed = seed
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = "\(parent)/holdfast-simulation-\(getpid())-\(seed).journal"
        try? FileManager.default.removeItem(atPath: directory)  // Of a process that was killed, with the same number.
        open = try Self.open(directory, seed, faults, limit: nil)
    }

    private static func open(
        _ directory: String, _ seed: UInt64, _ faults: Faults, limit: Int?
    ) throws(JournalError) -> LMDBJournal {
        var options = LMDBJournal.Options()
        options.durability = .process
        options.limit = 64 << 20
        if let limit { options.greatestSettlementCommit = limit }
        options.stepping = Stepping(
            identityKey: IdentityKey(first: seed, second: 1), faults: faults.storage)
        return try LMDBJournal(directory: directory, options: options)
    }

    var journal: any JournalService { open }
    var waitingCount: Int { open.waitingCount }
    var waitingBlacklistCount: Int { open.waitingBlacklistCount }

    func step(atMost count: Int) -> Bool {
        let moment = open.step(atMost: count)
        switch moment {
        case .visible, .reported: isIdle = false
        case .completed, nil: isIdle = true
        }
        return moment == .visible || moment == nil
    }

    func commitBlacklist() { while open.stepBlacklist() != nil {} }

    func failWrites(_ fails: Bool) { faults.state.withLock { $0.writesFail = fails } }
    func failReads(_ fails: Bool) { faults.state.withLock { $0.readsFail = fails } }
    func failBlacklistWrites(_ fails: Bool) { faults.state.withLock { $0.blacklistFails = fails } }

    func breakCommit(isKept: Bool) { faults.state.withLock { $0.next = isKept ? .kept : .lost } }

    func crash(limit: Int?) throws(JournalError) {
        closeReader()
        open.crash()
        faults.state.withLock { $0 = Faults.State() }
        isIdle = true
        open = try Self.open(directory, seed, faults, limit: limit)
    }

    func remove() {
        closeReader()
        open.crash()
        try? FileManager.default.removeItem(atPath: directory)  // In memory, and of no use to anybody.
    }

    // MARK: What readers see

    private func reader() throws(JournalError) -> JournalReader {
        if let looking { return looking }
        let reader = try JournalReader(directory: directory)
        looking = reader
        return reader
    }

    private func closeReader() {
        looking?.close()
        looking = nil
    }

    func figures() throws(JournalError) -> DiskImage.Figures {
        DiskImage.Figures(status: try open.status(), producers: try open.producers())
    }

    func image(rejectionsAfter rejections: UID, outcomesAfter outcomes: OutcomeCursor) throws(JournalError) -> DiskImage
    {
        let figures = try figures()
        let status = figures.status
        var entries: [DiskImage.Entry] = []
        for lane in status.lanes { try appendUnconfirmed(of: lane, to: &entries) }
        if status.quarantined > 0 { entries += try quarantined() }
        if status.deferred + status.scheduled > 0 {
            for entry in try reader().entries(limit: .max, states: [.deferred, .scheduled]) {
                entries.append(image(of: entry))
            }
        }
        if status.rejections > 0 {
            for entry in try reader().entries(after: rejections, limit: .max, states: [.rejected]) {
                entries.append(image(of: entry))
            }
        }
        if status.aside > 0 { try appendAside(status, to: &entries) }
        return DiskImage(
            figures: figures, entries: entries, outcomes: try open.outcomes(after: outcomes, limit: .max),
            readers: open.outcomeReaders,
            blacklist: try open.blacklist.list(after: nil, limit: .max))
    }

    private func appendUnconfirmed(of lane: JournalStatus.Lane, to entries: inout [DiskImage.Entry])
        throws(JournalError)
    {
        let batch = try open.unconfirmed(lane.id, after: .none, through: .max, limit: .max)
        for item in batch.items {
            entries.append(
                DiskImage.Entry(
                    uid: item.uid, lane: lane.key, packed: Array(batch.bytes[item.range]), attempts: item.attempts,
                    isPossiblySent: item.isPossiblySent))
        }
        for entry in batch.unreadable {
            entries.append(
                DiskImage.Entry(
                    uid: entry.uid, lane: lane.key, packed: [], attempts: 0, isPossiblySent: false, fault: entry.fault))
        }
    }

    private func appendAside(_ status: JournalStatus, to entries: inout [DiskImage.Entry]) throws(JournalError) {
        let aside = try open.asideImage()
        let keys = Dictionary(uniqueKeysWithValues: status.lanes.map { ($0.id, $0.key) })
        for (item, place) in zip(aside.entries.items, aside.places) {
            guard let lane = keys[place.lane] else { continue }
            entries.append(
                DiskImage.Entry(
                    uid: item.uid, lane: lane, packed: Array(aside.entries.bytes[item.range]),
                    attempts: item.attempts, isPossiblySent: item.isPossiblySent, asideSince: place.since))
        }
    }

    private func quarantined() throws(JournalError) -> [DiskImage.Entry] {
        try open.quarantined(after: .none, limit: .max).compactMap { entry in
            guard let lane = entry.lane else { return nil }
            return DiskImage.Entry(
                uid: entry.uid, lane: lane, packed: [], attempts: 0, isPossiblySent: entry.isPossiblySent,
                fault: entry.fault, quarantinedAt: entry.quarantinedAt)
        }
    }

    private func image(of entry: JournalEntry) -> DiskImage.Entry {
        var image = DiskImage.Entry(
            uid: entry.uid, lane: entry.lane, packed: packed(entry), attempts: UInt16(clamping: entry.attempts),
            isPossiblySent: entry.isPossiblySent)
        switch entry.state {
        case .deferred(let due): image.due = due
        case .scheduled(let time): image.due = ScheduledPlace.due(for: time)
        case .aside(let since): image.asideSince = since
        case .rejected(let cause): image.rejection = cause
        case .neverSent, .possiblySent: break
        }
        return image
    }

    /// Packed once: what was submitted stays as it is.
    private func packed(_ entry: JournalEntry) -> [UInt8] {
        if let known = packed[entry.uid] { return known }
        var bytes: [UInt8] = []
        let notification = entry.notification
        PackedNotification.append(
            notification, id: notification.id ?? NotificationID(high: 0, low: 0),
            expiration: notification.expiration ?? .at(0), acceptedAt: entry.acceptedAt, producer: entry.producer,
            retryOf: entry.retryOf ?? .none, to: &bytes)
        packed[entry.uid] = bytes
        return bytes
    }
}
