import Holdfast
import HoldfastPostgres
import Testing

@Suite("When a host tries again to open a journal that it could not open")
struct TakeoverRefusalsTests {
    private let lacking = TakeoverRefusals.Refusal(journal: "gone", why: "sealed with key 6ed")

    private func listed(isFree: Bool = true, isClosed: Bool = false) -> [ListedJournal] {
        [
            ListedJournal(
                id: 1, name: "gone", host: "web-1", sighting: Sighting(epoch: 1, beats: 1, isFree: isFree),
                isClosed: isClosed)
        ]
    }

    @Test("The pauses double up to a minute, and only the first try and another reason are news")
    func pauses() {
        var refusals = TakeoverRefusals()
        var now = 0
        for pause in [5, 10, 20, 40, 60, 60] {
            let isNews = refusals.refused(1, lacking, at: .seconds(now))
            #expect(isNews == (now == 0))
            #expect(refusals.paused(at: .seconds(now + pause - 1)) == [1])
            #expect(refusals.pauses(at: .seconds(now + pause - 1)).map(\.pause) == [.seconds(1)])
            #expect(refusals.paused(at: .seconds(now + pause)).isEmpty)
            #expect(refusals.pauses(at: .seconds(now + pause + 1)).map(\.pause) == [.zero])
            now += pause
            refusals.looked(listed(), mine: [], at: .seconds(now))
        }
        #expect(refusals.all == [lacking] && refusals.contains(1))
        let other = TakeoverRefusals.Refusal(journal: "gone", why: "sealed with key c3b")
        let isNews = refusals.refused(1, other, at: .seconds(now))
        #expect(isNews && refusals.all == [other])
    }

    @Test("With other keys it is tried at once, and once it is open nothing is left of it")
    func opened() {
        var refusals = TakeoverRefusals()
        _ = refusals.refused(1, lacking, at: .seconds(100))
        refusals.tryNow()
        #expect(refusals.paused(at: .seconds(100)).isEmpty && refusals.contains(1))
        refusals.opened(1)
        #expect(refusals.all.isEmpty && !refusals.contains(1))
    }

    @Test(
        "One that is closed, or another host's for a while, is not told any more; a try of another host is no end of it"
    )
    func over() {
        var refusals = TakeoverRefusals()
        _ = refusals.refused(1, lacking, at: .seconds(0))
        refusals.looked(listed(isFree: false), mine: [], at: .seconds(10))
        refusals.looked(listed(), mine: [], at: .seconds(20))
        refusals.looked(listed(isFree: false), mine: [1], at: .seconds(49))
        refusals.looked(listed(isFree: false), mine: [], at: .seconds(79))
        #expect(refusals.all == [lacking])
        refusals.looked(listed(isFree: false), mine: [], at: .seconds(80))
        #expect(refusals.all.isEmpty)
        _ = refusals.refused(1, lacking, at: .seconds(90))
        refusals.looked(listed(isClosed: true), mine: [], at: .seconds(91))
        #expect(refusals.all.isEmpty)
    }
}
