import Foundation
import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct MonitorTests {
    @Test("A wait ends at its limit by the monotonic clock, after a last look", arguments: [-1, 0, 30])
    func limit(milliseconds: Int) {
        let monitor = Monitor(0)
        let start = ContinuousClock.now
        let found = monitor.wait(atMost: .milliseconds(milliseconds)) { looks -> Int? in
            looks += 1
            return nil
        }
        #expect(found == nil)
        #expect(ContinuousClock.now - start >= .milliseconds(milliseconds))
        #expect(monitor.withLock { $0 } >= 2)
    }

    @Test("Who waits without a limit, or with a long one, is woken", arguments: [nil, Duration.seconds(50)])
    func woken(limit: Duration?) {
        let monitor = Monitor(false)
        let thread = Thread {
            monitor.withLock { $0 = true }
            monitor.broadcast()
        }
        thread.start()
        #expect(monitor.wait(atMost: limit) { $0 ? "woken" : nil } == "woken")
    }
}
