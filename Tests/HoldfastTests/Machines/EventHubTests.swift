import Testing

@testable import Holdfast

@Suite(.timeLimit(.minutes(1))) struct EventHubTests {
    @Test("Who does not keep up loses the oldest events, they are counted, and nobody waits") func slow() async {
        let hub = EventHub()
        let slow = hub.stream(buffering: 3)
        let patient = hub.stream(buffering: 100)
        for number in 0..<10 { hub.emit(.connected(route: "\(number)")) }
        #expect(hub.dropped == 7)
        hub.end()
        var events: [EngineEvent] = []
        for await event in slow { events.append(event) }
        #expect(events == (7..<10).map { .connected(route: "\($0)") })
        var all = 0
        for await _ in patient { all += 1 }
        #expect(all == 10)
    }

    @Test("A listener hears what comes after it, and its stream ends with the engine") func late() async {
        let hub = EventHub()
        hub.emit(.connected(route: "before"))
        let stream = hub.stream(buffering: 10)
        hub.emit(.connected(route: "after"))
        hub.end()
        hub.emit(.connected(route: "too late"))
        var events: [EngineEvent] = []
        for await event in stream { events.append(event) }
        #expect(events == [.connected(route: "after")])
        for await _ in hub.stream(buffering: 10) { Issue.record("an event after the end") }
    }

    @Test("A listener that went away costs nothing more") func gone() async {
        let hub = EventHub()
        do {
            let stream = hub.stream(buffering: 1)
            _ = stream
        }
        for _ in 0..<10 { hub.emit(.connected(route: "r")) }
        #expect(hub.dropped == 0)
    }
}
