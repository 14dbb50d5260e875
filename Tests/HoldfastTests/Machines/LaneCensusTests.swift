import Testing

@testable import Holdfast

@Suite struct LaneCensusTests {
    @Test("A lane is looked at when it has been at its end for a second with entries that wait, and not before")
    func beginning() {
        var census = LaneCensus()
        let looks: [(depth: Int, now: Duration, isDue: Bool)] = [
            (0, .zero, false), (5, .seconds(10), false), (5, .milliseconds(10_999), false), (5, .seconds(11), true),
        ]
        for look in looks {
            let isDue = census.isDue(depth: look.depth, now: look.now)
            #expect(isDue == look.isDue, "at \(look.now)")
        }
        #expect(census.next == .seconds(11))
    }

    @Test("Where nothing moves the pauses double up to a minute; where something does, they are a second")
    func pauses() {
        var census = LaneCensus()
        var now = Duration.zero
        var pauses: [Duration] = []
        for depth in [5, 5, 5, 5, 5, 5, 5, 5, 4] {
            _ = census.looked(unreachable: 0, depth: depth, now: now)
            let next = census.next ?? .zero
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 1].map { .seconds($0) })
    }

    @Test("What was found is told once, stands while nothing can be read, and is over with the last entry")
    func news() {
        var census = LaneCensus()
        let looks: [(found: Int?, isNews: Bool, stands: Int)] = [
            (3, true, 3), (3, false, 3), (nil, false, 3), (4, true, 4), (0, false, 0), (2, true, 2),
        ]
        for look in looks {
            let isNews = census.looked(unreachable: look.found, depth: 5, now: .zero)
            #expect(isNews == look.isNews)
            #expect(census.unreachable == look.stands)
        }
        let isDue = census.isDue(depth: 0, now: .seconds(60))
        #expect(!isDue)
        #expect(census.unreachable == 0)
    }
}
