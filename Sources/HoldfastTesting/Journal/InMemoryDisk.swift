internal import Holdfast

/// What an ``InMemoryJournal`` has committed, as a new process would find it.
struct InMemoryDisk: Sendable {
    struct Record: Sendable {
        var packed: [UInt8]
        var attempts: UInt16 = 0
        var producer: ProducerID
        var identity: Identity?
        /// An attempt of it may have reached the service, whatever the lane's mark says.
        var isPossiblySent = false
        /// In which it lies, or lay last.
        var lane: LaneID
        /// It came from another lane: see ``Settlement/Kind/move(to:due:reason:)``.
        var isMoved = false
        /// Why it cannot be read.
        var fault: RecordFault?
    }

    struct Lane: Sendable {
        let key: LaneKey
        var entries = UIDTable<Record>()
        var deferred = DeferredTable()
        var mark = UID.none
        var lastUID = UID.none
        var state = LaneState.running

        var depth: Int { entries.count + deferred.count }
    }

    struct Producer: Sendable {
        let name: String
        var unconfirmed = 0
        var totals = JournalTotals()
    }

    /// A notification that was taken, by its identity.
    struct Remembered: Sendable {
        var uid: UID
        var acceptedAt: WallTime
        /// Nil while it is unconfirmed.
        var outcome: TerminalOutcome?
    }

    /// Lane 1 first: 0 is no lane, so that what was never opened is noticed.
    private(set) var laneList: [Lane] = []
    private(set) var producers: [Producer] = []
    var rejections = UIDTable<(record: Record, cause: RejectionCause)>()
    var outcomes = OutcomeTable()
    /// What silence has confirmed and a late error may still deny.
    var aside = AsideTable()
    var quarantined = UIDTable<Quarantined>()
    var identities: [Identity: Remembered] = [:]
    var notes: [String: [UInt8]] = [:]
    /// Entries that have not ended, of which the newest wins.
    var newest: [NewestKey: NewestEntries] = [:]
    var nextUID: UInt64 = 1
    var totals = JournalTotals()
    var lastWallTime: WallTime?
    /// Bytes of the unconfirmed notifications.
    var usedBytes = 0
    let identityKey: IdentityKey

    /// Has its own writer, whose commits are apart from all others.
    var blacklist: [Recipient: TokenEntries] = [:]
    /// The greatest ``BlacklistEntry/number`` that was ever given.
    var lastBlacklistNumber: UInt64 = 0

    init(identityKey: IdentityKey) { self.identityKey = identityKey }

    // MARK: Lanes and Producers

    var lanes: [(id: LaneID, lane: Lane)] {
        laneList.enumerated().map { (LaneID(rawValue: UInt32($0.offset + 1)), $0.element) }
    }

    func laneID(of key: LaneKey) -> LaneID? {
        laneList.firstIndex { $0.key == key }.map { LaneID(rawValue: UInt32($0 + 1)) }
    }

    /// Nil for a lane that was never opened.
    func lane(_ id: LaneID) -> Lane? { index(of: id).map { laneList[$0] } }

    private func index(of id: LaneID) -> Int? {
        let index = Int(id.rawValue) - 1
        return laneList.indices.contains(index) ? index : nil
    }

    mutating func changeLane<R>(_ id: LaneID, _ change: (inout Lane) -> R) -> R? {
        index(of: id).map { change(&laneList[$0]) }
    }

    mutating func addLane(_ key: LaneKey) -> LaneID {
        if let id = laneID(of: key) { return id }
        laneList.append(Lane(key: key))
        return LaneID(rawValue: UInt32(laneList.count))
    }

    func producerID(of name: String) -> ProducerID? {
        producers.firstIndex { $0.name == name }.map { ProducerID(rawValue: UInt16($0 + 1)) }
    }

    func producer(_ id: ProducerID) -> Producer? {
        let index = Int(id.rawValue) - 1
        return producers.indices.contains(index) ? producers[index] : nil
    }

    mutating func changeProducer(_ id: ProducerID, _ change: (inout Producer) -> Void) {
        let index = Int(id.rawValue) - 1
        if producers.indices.contains(index) { change(&producers[index]) }
    }

    /// - Returns: nil for one name too many.
    mutating func addProducer(_ name: String) -> ProducerID? {
        if let id = producerID(of: name) { return id }
        guard producers.count < ProducerID.greatestCount else { return nil }
        producers.append(Producer(name: name))
        return ProducerID(rawValue: UInt16(producers.count))
    }

    // MARK: Figures

    var unconfirmedCount: Int { laneList.reduce(0) { $0 + $1.depth } }

    /// Whether an entry that lies in the lane's entries would be possibly sent after a crash.
    static func isPossiblySent(_ uid: UID, _ record: Record, in lane: Lane) -> Bool {
        record.isPossiblySent || uid <= lane.mark
    }
}
