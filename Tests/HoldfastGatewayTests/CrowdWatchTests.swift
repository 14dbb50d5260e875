import Testing

@testable import HoldfastGateway

@Suite struct CrowdWatchTests {
    @Test("Memory is given back once for each crowd that goes, and not while as many come as go")
    func crowds() {
        var watch = CrowdWatch()
        for open in 1...10_000 { watch.opened(now: open) }
        // As many come as go.
        for _ in 0..<5000 {
            let isCrowd = watch.closed(now: 9999)
            watch.opened(now: 10_000)
            #expect(!isCrowd)
        }
        let times = (0..<10_000).reversed().filter { watch.closed(now: $0) }
        // From 10,000 to 5,000, to 2,500, to 1,250, to 625, and the last of them.
        #expect(times == [4999, 2499, 1249, 624, 124])
    }

    @Test("A few that go are not worth it") func few() {
        var watch = CrowdWatch()
        for open in 1..<CrowdWatch.leastCrowd { watch.opened(now: open) }
        #expect(!(0..<CrowdWatch.leastCrowd - 1).reversed().contains { watch.closed(now: $0) })
    }
}
