import Holdfast

/// The figures of all lanes, lane 1 first.
///
/// Each commit changes a copy, and keeps what was before to compare. An array would be copied whole for one lane that
/// changed, and compared whole: with a thousand routes that costs more than the commit. So lanes lie in chunks, of which
/// only those are copied, and compared, in which something changed.
struct LaneTable: Sendable {
    private static let chunkCount = 64

    private struct Chunk: Sendable {
        var lanes: [LaneRecord] = []
        /// Rises with each change; equal in two copies of a table only where neither has changed the chunk since.
        var version: UInt64 = 0
    }

    private var chunks: [Chunk] = []
    private var numbers: [LaneKey: Int] = [:]
    private(set) var count = 0
    /// Entries in all lanes, deferred ones included.
    private(set) var unconfirmed = 0
    /// Scheduled ones in all lanes.
    private(set) var scheduled = 0
    /// Those that pauses of tags hold, in all lanes.
    private(set) var held = 0

    init(_ lanes: [LaneRecord]) {
        for lane in lanes { append(lane) }
    }

    var indices: Range<Int> { 0..<count }

    /// All of them, copied.
    var all: [LaneRecord] { chunks.flatMap(\.lanes) }

    subscript(index: Int) -> LaneRecord {
        get { chunks[index / Self.chunkCount].lanes[index % Self.chunkCount] }
        _modify {
            let chunk = index / Self.chunkCount
            let place = index % Self.chunkCount
            unconfirmed -= chunks[chunk].lanes[place].unconfirmed
            scheduled -= chunks[chunk].lanes[place].scheduled
            held -= chunks[chunk].lanes[place].held
            chunks[chunk].version += 1
            yield &chunks[chunk].lanes[place]
            unconfirmed += chunks[chunk].lanes[place].unconfirmed
            scheduled += chunks[chunk].lanes[place].scheduled
            held += chunks[chunk].lanes[place].held
        }
    }

    mutating func append(_ lane: LaneRecord) {
        if count.isMultiple(of: Self.chunkCount) { chunks.append(Chunk()) }
        chunks[chunks.count - 1].lanes.append(lane)
        chunks[chunks.count - 1].version += 1
        numbers[lane.key] = count
        unconfirmed += lane.unconfirmed
        scheduled += lane.scheduled
        held += lane.held
        count += 1
    }

    func firstIndex(of key: LaneKey) -> Int? { numbers[key] }

    /// Lanes that may differ from those in an earlier copy of this table, with what they were there; nil for new ones.
    func changed(since earlier: LaneTable) -> [(index: Int, before: LaneRecord?)] {
        var changed: [(index: Int, before: LaneRecord?)] = []
        for (number, chunk) in chunks.enumerated() {
            let old = number < earlier.chunks.count ? earlier.chunks[number] : Chunk()
            if chunk.version == old.version { continue }
            for place in chunk.lanes.indices {
                changed.append((number * Self.chunkCount + place, place < old.lanes.count ? old.lanes[place] : nil))
            }
        }
        return changed
    }
}

extension LaneRecord {
    /// Deferred entries included.
    var unconfirmed: Int { entries + deferred }
}
