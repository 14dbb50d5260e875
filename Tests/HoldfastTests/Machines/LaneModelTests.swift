import Testing

@testable import Holdfast

/// A lane on a journal of a few lines, under random appends, commits, hand-outs and answers.
@Suite struct LaneModelTests {
    private struct Model {
        var lane: LaneStateMachine
        /// Unconfirmed and not deferred.
        var entries: Set<UInt64> = []
        var deferred: Set<UInt64> = []
        var flagged: Set<UInt64> = []
        /// In truth: has an attempt of it ever left?
        var hasLeft: Set<UInt64> = []
        var inFlight: Set<UInt64> = []
        var mark: UInt64 = 0
        var lastUID: UInt64 = 0
        var ceiling: UInt64 = 0
        var lastFirstSend: UInt64 = 0

        init(guarantee: Guarantee, random: inout Xoshiro256) {
            lastUID = UInt64.random(in: 0...40, using: &random)
            mark = UInt64.random(in: 0...lastUID, using: &random)
            for uid in 1..<(lastUID + 1) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: entries.insert(uid)
                case 1:
                    deferred.insert(uid)
                    if Bool.random(using: &random) { flagged.insert(uid) }
                default: break
                }
            }
            hasLeft = entries.filter { [mark] in $0 <= mark }.union(flagged)
            lane = LaneStateMachine(
                key: LaneKey(route: "r", urgency: .immediate, guarantee: guarantee),
                opening: LaneOpening(id: LaneID(rawValue: 1), markAtOpen: UID(mark), lastUID: UID(lastUID)),
                lookahead: 5)
        }

        mutating func commit() {
            mark = max(mark, min(ceiling, lastUID))
            lane.committed(lastUID: UID(lastUID), mark: UID(mark))
        }

        func batch(_ uids: [UInt64]) -> EntryBatch {
            EntryBatch(
                bytes: [],
                items: uids.map { .init(uid: UID($0), attempts: 0, isPossiblySent: flagged.contains($0), range: 0..<0) }
            )
        }

        mutating func handOut(limit: Int, seed: UInt64) {
            if let up = lane.raiseAhead() { ceiling = max(ceiling, up.rawValue) }
            switch lane.nextStep(limit: limit) {
            case .none: return
            case .peek(let after):
                let next = entries.filter { $0 > after.rawValue }.sorted().prefix(limit)
                guard let last = next.last else { return lane.peekedNothing() }
                if let up = lane.raise(through: UID(last), places: next.count) { ceiling = max(ceiling, up.rawValue) }
            case .readAgain(let again):
                let taken = Array(again.prefix(lane.covered(again)))
                guard !taken.isEmpty else {
                    if let up = lane.raise(through: again[again.count - 1].uid) { ceiling = max(ceiling, up.rawValue) }
                    return
                }
                lane.takeAgain(taken)
                for entry in taken where entries.contains(entry.uid.rawValue) {
                    send(entry.uid.rawValue, entry.possiblySent, isAgain: true, seed: seed)
                }
            case .read(let after, let through):
                let read = entries.filter { $0 > after.rawValue && $0 <= through.rawValue }.sorted().prefix(limit)
                lane.advance(to: UID(read.last ?? through.rawValue), count: read.count)
                let batch = batch(Array(read))
                let markAtOpen = lane.markAtOpen
                let fresh = batch.removing(lane.passOver(in: batch))
                for item in fresh.items {
                    send(item.uid.rawValue, item.uid <= markAtOpen, isAgain: false, seed: seed)
                }
            }
        }

        /// What the mark covers and the reading has not reached has places, but for what an earlier process may have sent.
        func checkPlaces(seed: UInt64) {
            guard lane.key.guarantee == .atMostOnce else { return }
            let covered = entries.count {
                $0 > max(lane.cursor.rawValue, lane.markAtOpen.rawValue) && $0 <= max(mark, ceiling)
            }
            #expect(
                covered <= lane.forwardPlaces, "seed \(seed): \(covered) are covered, \(lane.forwardPlaces) have places"
            )
        }

        private mutating func send(_ uid: UInt64, _ possiblySent: Bool, isAgain: Bool, seed: UInt64) {
            #expect(uid <= mark, "seed \(seed): \(uid) went out before the mark covered it")
            #expect(inFlight.insert(uid).inserted, "seed \(seed): \(uid) went out while it was in flight")
            if !isAgain {
                #expect(uid > lastFirstSend, "seed \(seed): \(uid) was read after \(lastFirstSend)")
                lastFirstSend = uid
            }
            let said = possiblySent || flagged.contains(uid)
            #expect(
                said == hasLeft.contains(uid), "seed \(seed): \(uid) was called \(said ? "possibly" : "never") sent")
        }

        mutating func answer(_ uid: UInt64, using random: inout Xoshiro256) {
            inFlight.remove(uid)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                // The connection ended: by a coin's side it may have been sent.
                let left = Bool.random(using: &random)
                if left { hasLeft.insert(uid) }
                lane.requeue([.init(uid: UID(uid), possiblySent: hasLeft.contains(uid))])
            case 1:
                entries.remove(uid)
                deferred.insert(uid)
                if Bool.random(using: &random) { hasLeft.insert(uid) }
                if hasLeft.contains(uid) { flagged.insert(uid) }
                lane.settled(UID(uid))
            default:
                entries.remove(uid)
                lane.settled(UID(uid))
            }
        }

        mutating func promote(_ count: Int) {
            let back = deferred.sorted().prefix(count)
            deferred.subtract(back)
            entries.formUnion(back)
            lane.promoted(back.map { UID($0) })
        }
    }

    @Test(
        "Every entry goes out covered by the mark, in order, once at a time, and what is said of earlier attempts is true",
        arguments: 0..<150 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var model = Model(guarantee: seed.isMultiple(of: 2) ? .atLeastOnce : .atMostOnce, random: &random)
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    model.lastUID += UInt64.random(in: 1...2, using: &random)
                    model.entries.insert(model.lastUID)
                }
            case 1..<4: model.commit()
            case 4..<7: model.handOut(limit: Int.random(in: 1...8, using: &random), seed: seed)
            case 7: model.promote(Int.random(in: 1...3, using: &random))
            default:
                model.checkPlaces(seed: seed)
                if let uid = model.inFlight.sorted().randomElement(using: &random) { model.answer(uid, using: &random) }
            }
        }
        // In the end nothing is stranded.
        for _ in 0..<2000 where !model.entries.isEmpty || !model.deferred.isEmpty {
            model.promote(10)
            model.commit()
            model.handOut(limit: 10, seed: seed)
            for uid in model.inFlight.sorted() { model.answer(uid, using: &random) }
        }
        #expect(model.entries.isEmpty && model.deferred.isEmpty, "seed \(seed): stranded \(model.entries.sorted())")
    }
}
