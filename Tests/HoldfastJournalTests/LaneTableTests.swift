import Foundation
import Holdfast
import Testing

@testable import HoldfastJournal

@Suite("The figures of many lanes") struct LaneTableTests {
    private static func lane(_ number: Int) -> LaneRecord {
        LaneRecord(key: LaneKey(route: "route-\(number)", urgency: .immediate, guarantee: .atLeastOnce))
    }

    @Test("It says as an array would what has changed since a copy was made, whatever happens in between")
    func model() {
        for seed in 0..<200 as Range<UInt64> {
            var random = Xoshiro256(seed: seed)
            var model = (0..<Int.random(in: 0..<200, using: &random)).map(Self.lane)
            var table = LaneTable(model)
            for _ in 0..<20 {
                let (modelBefore, before) = (model, table)
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    if model.isEmpty || Bool.random(using: &random) {
                        table.append(Self.lane(model.count))
                        model.append(Self.lane(model.count))
                    } else {
                        let index = Int.random(in: model.indices, using: &random)
                        let entries = Int.random(in: 0..<5, using: &random)
                        model[index].entries = entries
                        table[index].entries = entries
                    }
                }
                #expect(table.all == model, "seed \(seed)")
                #expect(before.all == modelBefore, "seed \(seed)")
                #expect(table.unconfirmed == model.reduce(0) { $0 + $1.entries + $1.deferred }, "seed \(seed)")
                let changed = Dictionary(
                    uniqueKeysWithValues: table.changed(since: before).map { ($0.index, $0.before) })
                for index in model.indices {
                    let old = index < modelBefore.count ? modelBefore[index] : nil
                    if old != model[index] { #expect(changed[index] == .some(old), "seed \(seed)") }
                }
            }
            for index in model.indices { #expect(table.firstIndex(of: model[index].key) == index) }
        }
    }

    @Test("Of many lanes only the neighbours of one that changed are looked at") func few() {
        var table = LaneTable((0..<4000).map(Self.lane))
        let before = table
        table[2000].mark = 7
        #expect(table.changed(since: before).count <= 64)
        #expect(table.changed(since: table).isEmpty)
    }

    @Test("A ceiling that was raised is looked at by the next commit, and by no later one") func ceilings() {
        var ceilings = MarkCeilings()
        ceilings.raise(3, to: 10)
        ceilings.raise(5, to: 20)
        let taken = ceilings
        ceilings.raise(5, to: 30)
        ceilings.committed(taken)
        #expect(ceilings.raised == [5])
        #expect(ceilings[5] == 30)
        ceilings.forget(5)
        #expect(ceilings.raised.isEmpty)
        #expect(ceilings[5] == 0)
        ceilings.raise(3, to: 9)
        #expect(ceilings.raised.isEmpty)
    }

    @Test("Thousands of lanes are opened in one commit, each with its own number, those that are there with theirs")
    func opening() throws {
        let scratch = Scratch()
        defer { scratch.remove() }
        let journal = try LMDBJournal(directory: scratch.journal)
        defer { journal.close() }
        let keys = (0..<2000).map { Self.lane($0).key }
        let known = try journal.openLane(keys[1000]).id
        let commits = Monitor(0)
        try journal.observeCommits { _ in commits.withLock { $0 += 1 } }
        let openings = try journal.openLanes(keys)
        #expect(commits.withLock { $0 } == 1)
        #expect(Set(openings.map(\.id)).count == 2000)
        #expect(openings[1000].id == known)
        #expect(try journal.openLanes(keys) == openings)
    }
}
