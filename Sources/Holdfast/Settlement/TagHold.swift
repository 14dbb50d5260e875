/// Knows the tags that operators have paused, and what of each lane waits for none of them any more.
///
/// The entries of a paused tag wait among the deferred, in the place of its pause (``TagPlace``): a million of them cost
/// nothing while they wait. The journal alone says what lies there. Whatever lies in a place of no present pause is called back:
/// after a resume, in this process or an earlier one, and what came to its place only after the resume.
///
/// A pure machine.
struct TagHold: Sendable {
    /// An order to bring back deferred entries: due after `after` and up to `through`.
    struct Call: Hashable, Sendable {
        let after: WallTime
        let through: WallTime
    }

    private struct Lane: Sendable {
        /// Whether something may lie in a place of no present pause.
        var isUnknown = true
        var call: Call?
    }

    private(set) var pauses = TagPauses()
    private var places: [[UInt8]: WallTime] = [:]
    private var lanes: [Lane]

    init(lanes count: Int) { lanes = Array(repeating: Lane(), count: count) }

    /// Whether no tag is paused.
    var isEmpty: Bool { places.isEmpty }

    /// Where an entry of the tag waits; nil when it may go.
    func place(of tag: ArraySlice<UInt8>) -> WallTime? { tag.isEmpty ? nil : places[Array(tag)] }

    mutating func change(to pauses: TagPauses) {
        self.pauses = pauses
        places = Dictionary(uniqueKeysWithValues: pauses.all.map { ($0.tag, $0.place) })
        lookEverywhere()
    }

    // MARK: What comes back

    /// Entries may have come to places from elsewhere.
    mutating func lookEverywhere() { for lane in lanes.indices { lanes[lane].isUnknown = true } }

    /// An entry waits at this due time, on disk.
    mutating func waits(until due: WallTime, lane: Int) {
        if due.isPlaceOfTag, !pauses.all.contains(where: { $0.place == due }) { lanes[lane].isUnknown = true }
    }

    /// Whether ``find(lane:next:)`` is to be called.
    func isUnknown(lane: Int) -> Bool { lanes[lane].isUnknown }

    /// Finds what of the lane waits for no pause.
    ///
    /// - Parameter next: the due time of the lane's next deferred entry behind a time.
    mutating func find(lane: Int, next: (WallTime) throws(JournalError) -> WallTime?) throws(JournalError) {
        let paused = pauses.all.map(\.place)
        var after = WallTime(milliseconds: TagPlace.first.milliseconds - 1)
        var call: Call?
        while call == nil, let due = try next(after), due.isPlaceOfTag {
            if paused.contains(due) {
                after = due
            } else {
                let behind = paused.filter { $0 > due }.min().map { WallTime(milliseconds: $0.milliseconds - 1) }
                call = Call(
                    after: WallTime(milliseconds: due.milliseconds - 1), through: behind ?? TagPlace.last)
            }
        }
        lanes[lane] = Lane(isUnknown: false, call: call)
    }

    /// Nothing of the lane is held.
    mutating func foundNothing(lane: Int) { lanes[lane] = Lane(isUnknown: false) }

    /// What is to come back now.
    func call(lane: Int) -> Call? { lanes[lane].call }

    /// So many came back; none when nothing is left there.
    mutating func called(lane: Int, count: Int) { if count == 0 { lanes[lane].isUnknown = true } }

    /// What is left of a lane in which nothing but held entries waits, for operators.
    var words: String { pauses.words ?? "entries wait for a tag" }
}
