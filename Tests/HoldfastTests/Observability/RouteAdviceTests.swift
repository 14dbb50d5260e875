import Testing

@testable import Holdfast

@Suite("Advice in a service's own terms") struct RouteAdviceTests {
    @Test("What refuses a service's credentials and recipients is told in the service's own terms, or in Apple's")
    func advice() {
        let key = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        let lane = StatusBoard.LaneSummary(
            key: key, state: .stopped(reason: "403", since: WallTime(seconds: 1)), nextProbeAt: nil, unreachable: 0,
            isYetToBeProbed: false, stop: .credentialsRefused)
        var findings = RouteFindings(route: "r", endpoint: "e", lanes: [lane])
        func next() -> String? { findings.conditions(depth: { _ in 1 }, now: WallTime(seconds: 2)).first?.next }
        #expect(next()?.contains("key or certificate") == true)
        findings.advice = ServiceAdvice(
            credentialsRefused: "see to the account", recipientsRefused: "see to the project",
            suspicion: "the project")
        #expect(next() == "see to the account")
    }

    @Test("A topic that is set aside is a fault while something waits, else a notice", arguments: [0, 1])
    func idleTopic(depth: Int) {
        let key = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        let lane = StatusBoard.LaneSummary(
            key: key, state: .running, nextProbeAt: nil, unreachable: 0, isYetToBeProbed: false, stop: nil)
        let topic = EngineStatus.Topic(
            topic: "t", reason: "TopicDisallowed", since: WallTime(seconds: 1), nextProbeAt: nil)
        let findings = RouteFindings(route: "r", endpoint: "e", lanes: [lane], topics: [topic])
        let found = findings.conditions(depth: { _ in depth }, now: WallTime(seconds: 2))
        #expect(found.map(\.kind) == [.topicSetAside])
        #expect(found.map(\.severity) == [depth == 0 ? .notice : .fault])
    }
}
