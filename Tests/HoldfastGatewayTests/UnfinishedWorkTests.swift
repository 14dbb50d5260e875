import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastGateway

@Suite("What goes on when its connection is gone", .timeLimit(.minutes(1)))
struct UnfinishedWorkTests {
    /// Waits for the end, and says when it has come.
    private func waiting(_ work: UnfinishedWork, within limit: Duration) -> (Task<Void, Never>, Monitor<Bool>) {
        let isOver = Monitor(false)
        let task = Task {
            await work.untilNone(within: limit)
            isOver.withLock { $0 = true }
        }
        return (task, isOver)
    }

    @Test("It is waited for until the last of it is finished, also by one who is cancelled")
    func last() async {
        let work = UnfinishedWork()
        work.begin()
        work.begin()
        let (task, isOver) = waiting(work, within: .seconds(600))
        task.cancel()
        work.finish()
        #expect(await Patience(.milliseconds(50)).wait { isOver.withLock { $0 } } == false)
        work.finish()
        await task.value
    }

    @Test("Where there is none nobody waits, and where it does not end they wait no longer than the limit")
    func limit() async {
        await UnfinishedWork().untilNone(within: .seconds(600))
        let work = UnfinishedWork()
        work.begin()
        await work.untilNone(within: .milliseconds(20))
        // What is late finds nobody.
        work.finish()
        let late = UnfinishedWork()
        late.begin()
        await late.untilNone(within: .seconds(-1))
    }
}
