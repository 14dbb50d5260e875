import Testing

@testable import Holdfast

@Suite struct RequeuedRunsTests {
    private func run(_ uids: ClosedRange<UInt64>, _ possiblySent: Bool = false) -> RequeuedRuns.Run {
        RequeuedRuns.Run(uids, possiblySent: possiblySent)
    }

    @Test("They come back ascending, each once") func ascending() {
        var runs = RequeuedRuns()
        runs.insert([run(50...51)])
        runs.insert([run(7...9), run(8...10)])
        #expect(runs.count == 6)
        #expect(runs.prefix(10).map(\.uid.rawValue) == [7, 8, 9, 10, 50, 51])
        runs.removeFirst(2)
        #expect(runs.prefix(3).map(\.uid.rawValue) == [9, 10, 50])
    }

    @Test("Of two words about one entry the more careful holds") func careful() {
        var runs = RequeuedRuns()
        runs.insert([run(1...10)])
        runs.insert([run(4...6, true)])
        runs.insert([run(5...12)])
        #expect(runs.count == 12)
        #expect(runs.prefix(20).filter(\.possiblySent).map(\.uid.rawValue) == [4, 5, 6])
        #expect(runs.lastPossiblySent == UID(6))
    }

    @Test("A million neighbours come and go as one") func million() {
        var runs = RequeuedRuns()
        for start in stride(from: 1 as UInt64, to: 1_000_000, by: 1000) {
            runs.insert([run(start...(start + 999), true)])
        }
        #expect(runs.count == 1_000_000)
        var expected = RequeuedRuns()
        expected.insert([run(1...1_000_000, true)])
        #expect(runs == expected)
    }

    @Test("Random operations agree with a sorted dictionary", arguments: 0..<40 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        var runs = RequeuedRuns()
        var model: [UInt64: Bool] = [:]
        for _ in 1...120 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let new = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    let first = UInt64.random(in: 1...80, using: &random)
                    return run(first...(first + UInt64.random(in: 0...12, using: &random)), Bool.random(using: &random))
                }
                runs.insert(new)
                for run in new {
                    for uid in run.first...run.last { model[uid] = run.possiblySent || model[uid] == true }
                }
            } else {
                let number = Int.random(in: 0...20, using: &random)
                runs.removeFirst(number)
                for uid in model.keys.sorted().prefix(number) { model[uid] = nil }
            }
            let limit = Int.random(in: 0...100, using: &random)
            let expected = model.keys.sorted().prefix(limit)
            #expect(runs.prefix(limit).map(\.uid.rawValue) == Array(expected), "seed \(seed)")
            #expect(runs.prefix(limit).map(\.possiblySent) == expected.map { model[$0] == true }, "seed \(seed)")
            #expect(runs.count == model.count, "seed \(seed)")
            #expect(runs.isEmpty == model.isEmpty, "seed \(seed)")
            #expect(runs.lastPossiblySent?.rawValue == model.filter(\.value).keys.max(), "seed \(seed)")
        }
    }

    @Test("One is taken out of the middle, and the others keep their places") func removal() {
        var runs = RequeuedRuns()
        runs.insert([.init(1...5, possiblySent: false), .init(8...8, possiblySent: true)])
        runs.remove([UID(3), UID(8), UID(9), UID(1)])
        #expect(runs.prefix(10).map(\.uid.rawValue) == [2, 4, 5])
        #expect(runs.count == 3)
        #expect(runs.possiblySent(UID(3)) == nil)
        runs.remove([UID(2), UID(4), UID(5)])
        #expect(runs.isEmpty)
        runs.insert([.init(7...7, possiblySent: true)])
        #expect(runs.prefix(10).map(\.uid.rawValue) == [7])
    }
}
