import HoldfastTesting
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct WithdrawnSumTests {
    @Test("Parts are told as one sum, a second after the last, or when a minute is over") func sum() {
        var sum = WithdrawnSum()
        #expect(sum.isEmpty && sum.nextTelling == nil)
        #expect(sum.take(isLast: true, now: .zero) == nil)
        for tenth in 0..<20 { sum.add(Withdrawal(withdrawn: 500, unknown: 1), now: .milliseconds(100 * tenth)) }
        #expect(sum.nextTelling == .milliseconds(2900))
        #expect(sum.take(isLast: false, now: .milliseconds(2899)) == nil)
        #expect(sum.take(isLast: false, now: .milliseconds(2900)) == Withdrawal(withdrawn: 10_000, unknown: 20))
        #expect(sum.isEmpty)
        for half in 0...120 { sum.add(Withdrawal(withdrawn: 1), now: .milliseconds(500 * half + 10_000)) }
        #expect(sum.nextTelling == .seconds(70))
        #expect(sum.take(isLast: false, now: .seconds(70)) == Withdrawal(withdrawn: 121))
    }

    @Test("A drop of many is one line of the log") func line() throws {
        let log = RecordingLog()
        let bench = try Bench(log: log)
        bench.accepts = false
        try bench.submit(1..<301)
        bench.settle()
        for first in stride(from: 1, to: 301, by: 50) {
            bench.core.withdraw((first..<(first + 50)).map { UID(UInt64($0)) }, from: bench.lane()) { _ in }
            bench.settle()
        }
        #expect(bench.status.withdrawn == 300)
        bench.advance(by: .seconds(2))
        let lines = log.lines.filter { $0.event == "withdrawn" }
        #expect(lines.map { $0.metadata["withdrawn"] } == ["300"])
    }
}
