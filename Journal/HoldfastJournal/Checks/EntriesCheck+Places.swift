import Holdfast
import HoldfastLMDB

/// Checks entries against each other: each UID is in one place, and other tables say of it what fits that place.
extension EntriesCheck {
    /// Each lane's rows are read side by side, so there is a bound. What it leaves unchecked no damage leads to: the
    /// records themselves have checksums.
    private static let greatestLaneCount = 1000

    func checkPlaces() {
        var streams: [UIDStream] = []
        for (name, kind) in [
            ("rejections", UIDStream.Kind.rejected), ("outcomes", .outcome), ("identities", .identity),
            ("quarantine", .quarantined),
        ] {
            if let tree = tree(name) { streams.append(UIDStream(walk.file, tree, kind)) }
        }
        let busy = laneTallies.indices.filter { laneTallies[$0].entries + laneTallies[$0].deferred > 0 }
        guard busy.count <= Self.greatestLaneCount else {
            return check.remark("Whether an entry is in two lanes was not checked: \(busy.count) lanes have some.")
        }
        for index in busy {
            let lane = UInt32(index) + 1
            if let tree = tree("entries") { streams.append(UIDStream(walk.file, tree, .entry(lane))) }
            if let tree = tree("deferredIndex") { streams.append(UIDStream(walk.file, tree, .deferred(lane))) }
        }
        if asideCount > 0, lanes.count <= Self.greatestLaneCount, let tree = tree("aside") {
            for lane in 1...UInt32(max(lanes.count, 1)) { streams.append(UIDStream(walk.file, tree, .aside(lane))) }
        }
        let total = check.report.rows.values.reduce(0, +)
        var merge = UIDMerge(streams)
        var seen = 0
        while let uid = merge.next(), check.goOn() {
            seen += merge.found.count
            check.tell("comparing entries", seen, total)
            judge(uid, merge.found)
        }
    }

    /// One that can be walked without losing rows.
    private func tree(_ name: String) -> TreeRecord? {
        check.torn.contains(name) ? nil : tables.first { table in table.name == name }?.record
    }

    private func judge(_ uid: UInt64, _ found: [UIDMerge.Found]) {
        var lane: UInt32?
        var places: [String] = []
        var unconfirmed = false
        for item in found {
            switch item.kind {
            case .entry(let number):
                (lane, unconfirmed) = (number, true)
                places.append("entries of lane \(number)")
            case .deferred(let number):
                (lane, unconfirmed) = (number, true)
                places.append("deferred entries of lane \(number)")
            case .aside(let number):
                (lane, unconfirmed) = (number, true)
                places.append("what lane \(number) keeps aside")
            case .quarantined:
                unconfirmed = true
                places.append("quarantine")
            case .rejected: places.append("rejections")
            case .outcome, .identity: break
            }
        }
        func damage(_ what: String, _ table: String, _ meaning: String, isContradiction: Bool = false) {
            check.add(what, table: table, lane: lane, uid: uid, isContradiction: isContradiction, means: meaning)
        }
        if places.count > 1 {
            damage(
                "it is in several places: \(places.joined(separator: ", "))", "entries",
                "The notification may be sent twice.", isContradiction: true)
        }
        if uid == 0 || facts.map({ facts in uid >= facts.nextUID }) == true {
            damage(
                "its UID was not given out yet: the next one is \(facts?.nextUID ?? 1)", Self.table(found),
                "Another notification may be given the same UID. Salvage the journal.")
        }
        if unconfirmed, outcomeLog.ended.contains(uid) || found.contains(where: { $0.kind == .outcome }) {
            damage(
                "it has an outcome but is unconfirmed", "outcomeLog", "It may be sent again after its end.",
                isContradiction: true)
        }
        for item in found {
            guard item.kind == .identity, let code = item.code, isWhole else { continue }
            if code == 0, !unconfirmed {
                damage(
                    "its identity is remembered as unconfirmed, but it is not", "identities",
                    "A repeat of the notification is taken for one that still waits.")
            } else if code != 0, unconfirmed {
                damage(
                    "its identity is remembered as ended, but it is unconfirmed", "identities",
                    "A repeat of the notification is told an outcome that is none.", isContradiction: true)
            }
        }
    }

    private var isWhole: Bool {
        check.torn.isDisjoint(with: ["entries", "deferredIndex", "deferred", "aside", "quarantine"])
    }

    private static func table(_ found: [UIDMerge.Found]) -> String {
        switch found.first?.kind {
        case .rejected: "rejections"
        case .outcome: "outcomes"
        case .identity: "identities"
        case .deferred: "deferred"
        case .aside: "aside"
        case .quarantined: "quarantine"
        default: "entries"
        }
    }
}

/// The rows of one table, or of one lane of it, in the order of their UIDs.
private struct UIDStream {
    enum Kind: Hashable {
        case entry(UInt32)
        case deferred(UInt32)
        case aside(UInt32)
        case rejected, outcome, identity, quarantined
    }

    let kind: Kind
    private var cursor: TreeCursor
    /// The UID it stands at; nil at its end.
    private(set) var uid: UInt64?

    init(_ file: DataFile, _ tree: TreeRecord, _ kind: Kind) {
        self.kind = kind
        cursor = TreeCursor(file, tree)
        let hasRow: Bool
        switch kind {
        case .entry(let lane), .deferred(let lane), .aside(let lane):
            hasRow = cursor.seek(atLeast: Key.entry(lane, 0).span.array)
        case .rejected, .outcome, .identity, .quarantined: hasRow = cursor.seek(atLeast: [])
        }
        uid = hasRow ? read() : nil
    }

    private func read() -> UInt64? {
        guard let key = cursor.key else { return nil }
        switch kind {
        case .entry(let lane), .deferred(let lane), .aside(let lane):
            return key.count == 12 && key.span.bigEndian32(at: 0) == lane ? key.span.bigEndian64(at: 4) : nil
        case .rejected, .outcome, .identity, .quarantined:
            return key.count == 8 ? key.span.bigEndian64(at: 0) : nil
        }
    }

    mutating func advance() { uid = cursor.next() ? read() : nil }

    /// The outcome's code in an identity.
    func code() -> UInt8? {
        guard kind == .identity, let value = cursor.value(), value.count > 13 else { return nil }
        return value[13]
    }
}

/// Several streams as one, by UID: a heap of those that are not at their end.
private struct UIDMerge {
    struct Found {
        let kind: UIDStream.Kind
        let code: UInt8?
    }

    private var heap: [UIDStream] = []
    /// The rows of the UID that ``next()`` has returned.
    private(set) var found: [Found] = []

    init(_ streams: [UIDStream]) {
        // A sorted array is a heap.
        heap = streams.filter { $0.uid != nil }.sorted { $0.uid ?? 0 < $1.uid ?? 0 }
    }

    mutating func next() -> UInt64? {
        found = []
        guard let uid = heap.first?.uid else { return nil }
        while let top = heap.first, top.uid == uid {
            found.append(Found(kind: top.kind, code: top.code()))
            heap[0].advance()
            // A stream that went back would keep this from ending.
            if let next = heap[0].uid, next > uid {
                sink()
            } else {
                heap.swapAt(0, heap.count - 1)
                heap.removeLast()
                sink()
            }
        }
        return uid
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].uid ?? .max < heap[least].uid ?? .max { least = child }
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
