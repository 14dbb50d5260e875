import CStorageFaults

/// The one door to the C recorder. See `storage_faults.h`.
enum Recorder {
    enum Kind: Int32, CaseIterable {
        case write, syncWrite, sync, truncate, allocate, create, makeDirectory, read, map, begin, put, delete

        init?(named name: String) {
            guard let kind = Self.allCases.first(where: { kind in "\(kind)" == name }) else { return nil }
            self = kind
        }
    }

    /// How a write that is made to fail has failed.
    enum Extent: Int32, CaseIterable {
        case nothing, half, all, short
    }

    /// Records what happens below `root` from now on, which must be an absolute path without symbolic links.
    static func start(_ root: String) {
        sf_simulate_disk(true)
        unsafe sf_start(root)
    }

    static func stop() { sf_stop() }

    /// Lets syncs and allocations through to the real disk.
    static func useRealDisk() { sf_simulate_disk(false) }

    /// How many events there are by now.
    static var position: Int { Int(sf_position()) }

    static func calls(_ kind: Kind) -> Int { Int(sf_calls(kind.rawValue)) }

    static var allCalls: Int { Kind.allCases.reduce(0) { sum, kind in sum + calls(kind) } }

    /// Makes a call fail, and if `then` is not empty every later one of these kinds as well.
    static func fail(_ kind: Kind, number: Int, error: Int32, extent: Extent, then kinds: [Kind]) {
        let mask = kinds.reduce(UInt32(0)) { mask, kind in mask | 1 << UInt32(kind.rawValue) }
        sf_fail(kind.rawValue, Int64(number), error, extent.rawValue, !kinds.isEmpty, mask)
    }

    static func lift() { sf_lift() }

    /// How many calls were made to fail.
    static var hits: Int { Int(sf_hits()) }

    /// From now on a death by signal, or a run of more than `seconds`, is reported with `text`. Nil ends it.
    static func watch(_ text: String?, seconds: Int = 60) { unsafe sf_watch(text, UInt32(seconds)) }

    /// How many events there were when the first of them did.
    static var firstHit: Int { Int(sf_first_hit()) }

    static func recording() -> Recording {
        let paths = (0..<sf_files()).map { file in unsafe String(cString: sf_path(file)) }
        let events = (0..<sf_position()).map { index -> Recording.Event in
            let event = unsafe sf_event_at(index)
            guard let kind = unsafe Kind(rawValue: event.kind) else { fatalError("an event of no kind") }
            let bytes = unsafe event.bytes.map { bytes in
                unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(event.length)))
            }
            return unsafe Recording.Event(
                kind: kind, file: Int(event.file), offset: Int(event.offset), length: Int(event.length),
                bytes: bytes ?? [], failed: event.failed)
        }
        return Recording(paths: paths, events: events)
    }
}

/// What was asked of the files below a directory, in order.
struct Recording: Sendable {
    struct Event: Sendable {
        let kind: Recorder.Kind
        let file: Int
        /// Of a write; of a sync, the number of events when it began.
        let offset: Int
        /// Of a write, or the new length or end of a truncation or allocation.
        let length: Int
        let bytes: [UInt8]
        let failed: Bool
    }

    let paths: [String]
    let events: [Event]

    /// Where something became durable, or should have: the moments of interest for a loss of power.
    var syncPoints: [Int] {
        events.indices.filter { index in events[index].kind == .sync || events[index].kind == .syncWrite }
    }
}
