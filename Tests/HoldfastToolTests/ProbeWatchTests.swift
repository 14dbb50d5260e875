import Holdfast
import Testing

@testable import HoldfastTool

@Suite("What came of the probes of a route that was to try at once")
struct ProbeWatchTests {
    private static let now = WallTime(seconds: 1_800_000_000)
    private static let since = WallTime(seconds: 1_799_990_000)
    private static let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    private func status(
        _ state: LaneState, _ unconfirmed: Int = 5, deferred: Int = 0, probe: WallTime? = nil,
        topicProbe: WallTime? = nil,
        isTopicAside: Bool = false
    ) -> DeskStatus {
        let topics =
            isTopicAside
            ? [EngineStatus.Topic(topic: "t", reason: "TopicDisallowed", since: Self.since, nextProbeAt: topicProbe)]
            : []
        return DeskStatus(
            lanes: [
                DeskStatus.Lane(
                    key: Self.lane, state: state, unconfirmed: unconfirmed, deferred: deferred, isServed: true,
                    nextProbeAt: probe)
            ],
            routes: [
                DeskStatus.Route(
                    name: "default", endpoint: "https://127.0.0.1", connection: "connected", isAway: false, inFlight: 0,
                    suspects: 0, holding: nil, topics: topics)
            ])
    }

    private func found(_ before: DeskStatus, _ after: DeskStatus) -> ProbeWatch.Finding {
        ProbeWatch(route: "default", before: before).look(after, at: Self.now)
    }

    private let later = now.advanced(by: .seconds(60))
    private let stopped = LaneState.stopped(reason: "InvalidProviderToken", since: since)

    @Test("A lane that stands still was refused if its next probe has another time, unless that has come")
    func lane() {
        let before = status(stopped, probe: later)
        #expect(found(before, before).isOpen && found(before, before).refusals.isEmpty)
        #expect(found(before, status(stopped, probe: nil)).isOpen)
        #expect(found(before, status(stopped, probe: Self.now)).isOpen)
        let refused = found(before, status(stopped, probe: later.advanced(by: .seconds(60))))
        #expect(!refused.isOpen && refused.refusals.map(\.because) == ["InvalidProviderToken"])
        #expect(refused.refusals.map(\.about) == ["lane"] && refused.refusals.map(\.name) == [Self.lane.description])
    }

    @Test("A lane that stopped anew was refused, whatever its next probe is")
    func stoppedAnew() {
        let anew = LaneState.stopped(reason: "Forbidden", since: Self.now)
        #expect(found(status(stopped), status(anew)).refusals.map(\.because) == ["Forbidden"])
        #expect(found(status(.running), status(anew)).refusals.map(\.because) == ["Forbidden"])
    }

    @Test("A lane that runs again is waited for until its entries become fewer, or none waits but for its time")
    func queued() {
        let before = status(stopped)
        #expect(found(before, status(.running)).isQueued)
        #expect(found(before, status(.running, 6)).isQueued)
        #expect(!found(before, status(.running, 4)).isQueued)
        #expect(!found(before, status(.running, 5, deferred: 5)).isQueued)
        #expect(!found(before, status(.running, 0)).isQueued)
    }

    @Test(
        "A topic that is set aside was refused if its next probe is another one, and is waited for while something waits"
    )
    func topic() {
        let before = status(.running, topicProbe: later, isTopicAside: true)
        #expect(found(before, before).isOpen && found(before, before).openTopics == ["t"])
        #expect(!found(before, status(.running, 0, topicProbe: later, isTopicAside: true)).isOpen)
        let after = status(.running, topicProbe: later.advanced(by: .seconds(1)), isTopicAside: true)
        #expect(found(before, after).refusals.map(\.name) == ["t"] && !found(before, after).isOpen)
        #expect(found(before, status(.running, 0)) == ProbeWatch.Finding())
    }

    @Test("Where something waits and no lane has fewer entries, nothing was taken, also if all of it is deferred")
    func still() {
        let before = status(.running, 5, deferred: 5)
        #expect(found(before, before).isStill)
        #expect(!found(before, status(.running, 4, deferred: 4)).isStill)
        #expect(!found(status(.running, 0), status(.running, 0)).isStill)
    }

    @Test("Other routes say nothing of this one")
    func otherRoute() {
        let watch = ProbeWatch(route: "other", before: status(stopped, isTopicAside: true))
        #expect(watch.look(status(stopped, probe: later, isTopicAside: true), at: Self.now) == ProbeWatch.Finding())
    }
}
