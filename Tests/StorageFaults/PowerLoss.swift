/// A generator that can be started again from a number.
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Which of the writes that were not synced the disk holds when the power goes.
enum Survivors: Hashable, Sendable {
    case none
    case all
    /// Of those not synced, the one with this number alone.
    case only(Int)
    /// All but that one.
    case allBut(Int)
    /// Each or not, some in part.
    case random(UInt64)
}

/// Works out from a recording what the disk could hold when the power goes.
///
/// A write is certain once a sync of its file that began after it has succeeded, or at once if its descriptor was
/// synchronous. Until then any subset of the writes may be there, whole or torn between sectors of 512 bytes. After a sync
/// that *failed* the kernel takes the pages for clean: nothing that was not synced by then is certain any more, ever,
/// unless its page is written again. Names are certain once the directory that holds them was synced.
struct PowerLoss {
    static let sectorByteCount = 512

    let recording: Recording
    let root: String
    private let base: DiskImage
    /// For each event the position from which on it is certain.
    private let certainFrom: [Int]
    /// For each file its events, and up to where they are in `settled`.
    private var eventsOfFile: [[Int]]
    private var settledCount: [Int]
    private var settled: [FileImage]

    /// - Parameter lies: a disk that says it has synced and has not, to see that the loss is noticed.
    init(_ recording: Recording, root: String, base: DiskImage = DiskImage(), lies: Bool = false) {
        self.recording = recording
        self.root = root
        self.base = base
        let certain = Self.certainty(recording)
        certainFrom = zip(certain, recording.events).map { position, event in
            lies && Self.changesFile(event) ? .max : position
        }
        eventsOfFile = [[Int]](repeating: [], count: recording.paths.count)
        for (index, event) in recording.events.enumerated() where Self.changesFile(event) {
            eventsOfFile[event.file].append(index)
        }
        settledCount = [Int](repeating: 0, count: recording.paths.count)
        settled = recording.paths.map { path in base.files[String(path.dropFirst(root.count))] ?? FileImage() }
    }

    private static func changesFile(_ event: Recording.Event) -> Bool {
        switch event.kind {
        case .write, .syncWrite, .truncate, .allocate: true
        default: false
        }
    }

    private static func parent(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return path }
        return String(path[..<slash])
    }

    private static func certainty(_ recording: Recording) -> [Int] {
        var certain = [Int](repeating: .max, count: recording.events.count)
        // Events that the next good sync of the file, or directory, makes certain; and those it does not any more.
        var open: [Int: [Int]] = [:]
        var doubtful: [Int: [Int]] = [:]
        let numbers = Dictionary(uniqueKeysWithValues: recording.paths.enumerated().map { ($1, $0) })
        for (index, event) in recording.events.enumerated() {
            switch event.kind {
            case .create, .makeDirectory:
                if let directory = numbers[parent(recording.paths[event.file])] {
                    open[directory, default: []].append(index)
                } else {
                    open[-1, default: []].append(index)
                }
            case .syncWrite where !event.failed:
                certain[index] = index + 1
            case .write, .syncWrite, .truncate, .allocate:
                // A page that is written again is dirty as a whole.
                let revived = (doubtful[event.file] ?? []).filter { earlier in
                    touchesSamePage(recording.events[earlier], event)
                }
                doubtful[event.file]?.removeAll { earlier in revived.contains(earlier) }
                open[event.file, default: []] += revived + [index]
            case .sync:
                let began = event.offset
                // Names are not pages: file systems keep them in a journal, and try again.
                let covered = (open[event.file] ?? []).filter { earlier in
                    earlier < began && !(event.failed && isName(recording.events[earlier]))
                }
                open[event.file]?.removeAll { earlier in covered.contains(earlier) }
                if event.failed {
                    doubtful[event.file, default: []] += covered
                } else {
                    for earlier in covered { certain[earlier] = index + 1 }
                }
            default:
                break
            }
        }
        return certain
    }

    private static func isName(_ event: Recording.Event) -> Bool {
        event.kind == .create || event.kind == .makeDirectory
    }

    private static func touchesSamePage(_ lhs: Recording.Event, _ rhs: Recording.Event) -> Bool {
        guard lhs.kind == .write || lhs.kind == .syncWrite, rhs.kind == .write || rhs.kind == .syncWrite else {
            return false
        }
        let page = FileImage.pageByteCount
        return lhs.offset / page <= (rhs.offset + rhs.length - 1) / page
            && rhs.offset / page <= (lhs.offset + lhs.length - 1) / page
    }

    /// How many changes were not certain at `position`.
    func uncertainCount(at position: Int) -> Int {
        var count = 0
        for (index, event) in recording.events.prefix(position).enumerated() where event.kind != .sync {
            if certainFrom[index] > position { count += 1 }
        }
        return count
    }

    /// What the disk holds when the power goes before the event with number `position`. Positions must not fall.
    mutating func image(at position: Int, _ survivors: Survivors) -> DiskImage {
        var lottery = Lottery(survivors)
        var image = base
        var made = Set(base.files.keys).union(base.directories).union([""])
        for (index, event) in recording.events.prefix(position).enumerated()
        where event.kind == .create || event.kind == .makeDirectory {
            let name = String(recording.paths[event.file].dropFirst(root.count))
            let isThere = certainFrom[index] <= position || lottery.keeps()
            guard isThere, made.contains(Self.parent(name)) else { continue }
            made.insert(name)
            if event.kind == .makeDirectory { image.directories.insert(name) }
        }
        for file in recording.paths.indices where !eventsOfFile[file].isEmpty {
            let name = String(recording.paths[file].dropFirst(root.count))
            advance(file, to: position)
            var content = settled[file]
            for index in eventsOfFile[file].dropFirst(settledCount[file]) where index < position {
                apply(index, to: &content, position, &lottery)
            }
            if made.contains(name) { image.files[name] = content }
        }
        for (index, event) in recording.events.prefix(position).enumerated() where event.kind == .create {
            let name = String(recording.paths[event.file].dropFirst(root.count))
            if made.contains(name), image.files[name] == nil { image.files[name] = FileImage() }
            _ = index
        }
        return image
    }

    /// Takes into `settled` what is certain up to the first that is not.
    private mutating func advance(_ file: Int, to position: Int) {
        while settledCount[file] < eventsOfFile[file].count {
            let index = eventsOfFile[file][settledCount[file]]
            guard index < position, certainFrom[index] <= position else { return }
            change(&settled[file], recording.events[index])
            settledCount[file] += 1
        }
    }

    private func apply(_ index: Int, to content: inout FileImage, _ position: Int, _ lottery: inout Lottery) {
        let event = recording.events[index]
        if certainFrom[index] <= position { return change(&content, event) }
        let isWrite = event.kind == .write || event.kind == .syncWrite
        if isWrite, lottery.tears() {
            var start = 0
            while start < event.bytes.count {
                // To the next sector of the file.
                let end = min(
                    event.bytes.count, start + Self.sectorByteCount - (event.offset + start) % Self.sectorByteCount)
                if lottery.keepsPart() { content.write(event.bytes, start..<end, at: event.offset) }
                start = end
            }
        } else if lottery.keeps() {
            change(&content, event)
        }
    }

    private func change(_ content: inout FileImage, _ event: Recording.Event) {
        switch event.kind {
        case .write, .syncWrite: content.write(event.bytes, 0..<event.bytes.count, at: event.offset)
        case .truncate: content.truncate(to: event.length)
        case .allocate: content.byteCount = max(content.byteCount, event.length)
        default: break
        }
    }
}

/// Decides about one change after the other.
private struct Lottery {
    private let survivors: Survivors
    private var generator: SplitMix64
    private var number = 0
    private let chance: Int

    init(_ survivors: Survivors) {
        self.survivors = survivors
        if case .random(let seed) = survivors {
            generator = SplitMix64(state: seed)
            chance = [10, 50, 90][Int.random(in: 0..<3, using: &generator)]
        } else {
            generator = SplitMix64(state: 0)
            chance = 0
        }
    }

    mutating func keeps() -> Bool {
        defer { number += 1 }
        switch survivors {
        case .none: return false
        case .all: return true
        case .only(let chosen): return number == chosen
        case .allBut(let chosen): return number != chosen
        case .random: return Int.random(in: 0..<100, using: &generator) < chance
        }
    }

    mutating func tears() -> Bool {
        if case .random = survivors { return Int.random(in: 0..<4, using: &generator) == 0 }
        return false
    }

    mutating func keepsPart() -> Bool { Bool.random(using: &generator) }
}
