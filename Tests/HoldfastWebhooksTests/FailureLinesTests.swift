import Testing

@testable import HoldfastWebhooks

@Suite("Lines of the log about a receiver that fails") struct FailureLinesTests {
    @Test("Failures that follow each other soon have one line, which counts them, and one that lasts has its own")
    func few() {
        var lines = FailureLines(interval: .seconds(60))
        func begins(_ second: Int) -> Int? { lines.begins(now: .seconds(second)) }
        func lasts(_ second: Int) -> Int? { lines.lasts(now: .seconds(second)) }
        func ends() -> Bool { lines.ends() }
        #expect(begins(100) == 0)
        #expect(ends())
        for second in 101...103 {
            #expect(begins(second) == nil)
            #expect(lasts(second) == nil)
            #expect(!ends())
        }
        // It lasts beyond the interval, and is told: also that it is over.
        #expect(begins(110) == nil)
        #expect(lasts(159) == nil)
        #expect(lasts(160) == 3)
        #expect(lasts(300) == nil)
        #expect(ends())
        #expect(begins(301) == 0)
    }
}
