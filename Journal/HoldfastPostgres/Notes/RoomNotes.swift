internal import HoldfastPQ

/// Tells other hosts by a note of the database that this one's journal has no room, and reads what they tell: hosts that are all
/// full would else each name the others as those who take.
///
/// A note holds for a host that lives: who looks knows by its lease which do, and a host that starts writes its note anew.
struct RoomNotes {
    private static let full = Array("full".utf8)

    private let notes: FleetNotes
    private let journal: Int32
    /// Whether this host's note says that it has no room, over the present session; nil where that is not known.
    private var told: Bool?

    /// - Parameter journal: that this host accepts into.
    init(_ schema: SchemaName, journal: Int32) {
        notes = FleetNotes(schema)
        self.journal = journal
    }

    /// The session with the database has ended: the next may be with one that knows less.
    mutating func sessionEnded() { told = nil }

    mutating func tell(
        isFull: Bool, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        guard told != isFull else { return }
        let name = Self.name(journal)
        let value: [UInt8] = isFull ? Self.full : []
        let present = try notes.note(name, connection, by: deadline)
        if present?.value ?? [] != value {
            // Another process of the same journal is none that owns it. At the next look it is written over.
            guard try notes.swap(name, seen: present?.version ?? 0, value, connection, by: deadline) != nil else {
                return
            }
        }
        told = isFull
    }

    /// The journals among these whose hosts have told that they have no room.
    func full(
        among journals: Set<Int32>, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Set<Int32> {
        var found: Set<Int32> = []
        for id in journals {
            let note = try notes.note(Self.name(id), connection, by: deadline)
            if note?.value == Self.full { found.insert(id) }
        }
        return found
    }

    private static func name(_ journal: Int32) -> String { "room/\(journal)" }
}
