import Foundation
import Holdfast
import HoldfastJournal

/// One seed: a recorded run of a real journal, and as many states of the disk as wanted after a loss of power in it.
struct PowerLossRun {
    struct Result: Sendable {
        var states = 0
        var secondCuts = 0
        var syncPoints = 0
        var writes = 0
        var requests = 0
        /// Requests that were answered before an earlier one that takes several commits.
        var overtakings = 0
        /// States in which one of these is there, and what it has overtaken is not over.
        var overtakenStates = 0
        var breaches: [String] = []
        /// How the journal was kept, in words.
        var options = ""
    }

    let seed: UInt64
    let size: Workload.Size
    let wantedStates: Int
    /// Only this one of the states: to look at a breach again.
    let onlyState: Int?

    var diskLies = false

    private struct Cut {
        let position: Int
        let survivors: Survivors
    }

    /// The number of the notification that is appended to each state.
    private static let probe = 1 << 40

    func run() throws -> Result {
        var result = Result()
        var generator = SplitMix64(state: seed)
        let place = try Place()
        defer { place.remove() }
        let options = LMDBJournal.Options.drawn(&generator)
        result.options = options.words
        let history = Monitor(History())
        Recorder.watch("seed \(seed), the recorded run", seconds: 120)
        let recording = try record(place, options, history, seed: generator.next())
        let noted = history.withLock { history in history }
        try expect(noted.errors.isEmpty, "the recorded run failed: \(noted.errors.first?.message ?? "")")

        result.requests = noted.entries.count
        result.overtakings = noted.overtakings
        result.syncPoints = recording.syncPoints.count
        result.writes = recording.events.count { event in event.kind == .write || event.kind == .syncWrite }
        var power = PowerLoss(recording, root: place.root, lies: diskLies)
        let cuts = cuts(recording, power, &generator)
        var replay = Replay(noted)
        let state = try Place()
        defer { state.remove() }
        for (number, cut) in cuts.enumerated() {
            let image = power.image(at: cut.position, cut.survivors)
            let secondSeed = generator.next()
            if let onlyState, onlyState != number { continue }
            let name =
                "seed \(seed), state \(number): power lost before event \(cut.position) of "
                + "\(recording.events.count), unsynced writes kept: \(cut.survivors)"
            Recorder.watch(name)
            do {
                let cutAgain = number % 5 == 0
                result.secondCuts += try check(
                    image, state, options, &replay, noted, at: cut.position, secondSeed: cutAgain ? secondSeed : nil)
            } catch {
                result.breaches.append("\(name): \(error)")
                if result.breaches.count >= 5 { break }
            }
            result.states += 1
        }
        Recorder.watch(nil)
        result.overtakenStates = replay.overtaken
        return result
    }

    /// Making the journal, work, an orderly end, reopening, more work: and then it is simply left.
    private func record(
        _ place: Place, _ options: LMDBJournal.Options, _ history: Monitor<History>, seed: UInt64
    ) throws -> Recording {
        Recorder.start(place.root)
        defer { Recorder.stop() }
        for half in 0..<2 {
            let journal = try LMDBJournal(directory: place.journal, options: options)
            defer { journal.close() }
            var size = size
            size.steps = max(1, size.steps / 2)
            try Workload(history, journal).run(size, seed: seed &+ UInt64(half))
        }
        return Recorder.recording()
    }

    /// Each sync point just before and just behind it, and moments between, as many as are wanted of them.
    private func cuts(_ recording: Recording, _ power: PowerLoss, _ generator: inout SplitMix64) -> [Cut] {
        var cuts: [Cut] = []
        // The making of the journal, event by event: it is short.
        let start = Array(0..<min(60, recording.events.count))
        let points = recording.syncPoints.flatMap { point in [point, point + 1] }
        let between = (0..<wantedStates / 4).map { _ in Int.random(in: 0...recording.events.count, using: &generator) }
        var positions = points + between
        if positions.count > wantedStates {
            positions = Array(positions.shuffled(using: &generator).prefix(wantedStates))
        }
        positions += start.shuffled(using: &generator).prefix(wantedStates / 4)
        // A seed that has few moments has more states of each.
        let rounds = max(1, wantedStates / max(1, positions.count))
        for position in positions {
            let count = power.uncertainCount(at: position)
            for round in 0..<rounds {
                switch (Int.random(in: 0..<8, using: &generator), count) {
                case (0, _) where round == 0: cuts.append(Cut(position: position, survivors: .none))
                case (1, _) where round == 0: cuts.append(Cut(position: position, survivors: .all))
                case (2, 1...):
                    cuts.append(Cut(position: position, survivors: .only(Int.random(in: 0..<count, using: &generator))))
                case (3, 1...):
                    cuts.append(
                        Cut(position: position, survivors: .allBut(Int.random(in: 0..<count, using: &generator))))
                default: cuts.append(Cut(position: position, survivors: .random(generator.next())))
                }
            }
        }
        return cuts.sorted { lhs, rhs in lhs.position < rhs.position }
    }

    /// - Parameter secondSeed: also cuts the power while the state is being reopened.
    /// - Returns: how many second cuts were made.
    private func check(
        _ image: DiskImage, _ state: Place, _ options: LMDBJournal.Options, _ replay: inout Replay, _ history: History,
        at position: Int, secondSeed: UInt64?
    ) throws -> Int {
        try image.write(to: state.root)
        Recorder.start(state.root)
        let (found, openedAt, uid) = try reopen(state, options)
        let recording = Recorder.recording()
        Recorder.stop()
        try replay.check(found, at: position)
        try expect(
            uid == found.nextUID && uid > history.greatestUID(by: position), "UID \(uid) was given out a second time")
        guard let secondSeed else { return 0 }

        var generator = SplitMix64(state: secondSeed)
        var power = PowerLoss(recording, root: state.root, base: image)
        let positions = (0..<3).map { _ in Int.random(in: 0...recording.events.count, using: &generator) }.sorted()
        for again in positions {
            let image = power.image(at: again, .random(generator.next()))
            try image.write(to: state.root)
            Recorder.start(state.root)
            var (second, _, _) = try reopen(state, options)
            Recorder.stop()
            second.removeProbe(Self.probe)
            if again >= openedAt {
                try expect(
                    second.sameContents(as: found),
                    "what was read after the first loss of power is another after a second")
            } else {
                try replay.check(second, at: position)
            }
        }
        return positions.count
    }

    /// Opens, reads all, and appends one.
    private func reopen(_ state: Place, _ options: LMDBJournal.Options) throws -> (Found, openedAt: Int, UInt64) {
        let journal = try LMDBJournal(directory: state.journal, options: options)
        defer { journal.close() }
        let openedAt = Recorder.position
        let found = try Found(journal, state.journal)
        _ = try journal.openProducer("test")
        if found.lanes.isEmpty { _ = try journal.openLane(Workload.lanes[0]) }
        return (found, openedAt, try journal.appendOne(Self.probe).rawValue)
    }
}

extension Found {
    /// Takes out the notification that was appended to try the journal.
    fileprivate mutating func removeProbe(_ number: Int) {
        guard let uid = rows.first(where: { _, row in row.number == number })?.key else { return }
        rows[uid] = nil
        totals.accepted -= 1
        unconfirmed -= 1
        nextUID -= 1
    }

    fileprivate func sameContents(as other: Found) -> Bool {
        rows == other.rows && totals == other.totals && nextUID == other.nextUID && notes == other.notes
            && blacklist == other.blacklist
    }
}
