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

    @Test("A topic that is set aside is a fault while something waits, else nothing is told of it", arguments: [0, 1])
    func idleTopic(depth: Int) {
        let key = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        let lane = StatusBoard.LaneSummary(
            key: key, state: .running, nextProbeAt: nil, unreachable: 0, isYetToBeProbed: false, stop: nil)
        let topic = EngineStatus.Topic(
            topic: "t", reason: "TopicDisallowed", since: WallTime(seconds: 1), nextProbeAt: nil)
        let findings = RouteFindings(route: "r", endpoint: "e", lanes: [lane], topics: [topic])
        let found = findings.conditions(depth: { _ in depth }, now: WallTime(seconds: 2))
        #expect(found.map(\.kind) == (depth == 0 ? [] : [.topicSetAside]))
        #expect(found.map(\.severity) == (depth == 0 ? [] : [.fault]))
    }

    @Test("That all others go is said only while the service takes them") func others() throws {
        let key = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)
        let now = WallTime(seconds: 1000)
        let topic = EngineStatus.Topic(topic: "t", reason: "TopicDisallowed", since: now, nextProbeAt: nil)
        var findings = RouteFindings(route: "r", endpoint: "e", topics: [topic])
        findings.lanes = [
            StatusBoard.LaneSummary(
                key: key, state: .running, nextProbeAt: nil, unreachable: 0, isYetToBeProbed: false, stop: nil)
        ]
        func saysOthersGo(_ findings: RouteFindings) throws -> Bool {
            let found = findings.conditions(depth: { _ in 1 }, now: now)
            let topic = try #require(found.first { $0.kind == .topicSetAside })
            #expect(topic.what.hasSuffix(": TopicDisallowed"))
            return topic.what.contains("and all others go")
        }
        #expect(try !saysOthersGo(findings))
        findings.takenAt = now.advanced(by: .seconds(-30))
        #expect(try saysOthersGo(findings))
        findings.throttle = EngineStatus.Throttle(since: now)
        #expect(try !saysOthersGo(findings))
        findings.throttle = nil
        findings.away = ServiceReach.Away(
            since: now, error: ConnectError(.temporary, "no request is answered"), isSilence: true, failures: 0)
        #expect(try !saysOthersGo(findings))
        findings.away = nil
        findings.takenAt = now.advanced(by: .seconds(-300))
        #expect(try !saysOthersGo(findings))
    }
}
