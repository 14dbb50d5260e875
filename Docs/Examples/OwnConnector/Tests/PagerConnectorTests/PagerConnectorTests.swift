import Holdfast
import HoldfastTesting
import PagerConnector
import Testing

@Suite("The pager connector", .timeLimit(.minutes(2)))
struct PagerConnectorTests {
    @Test("It keeps the rules of a connector", arguments: ConnectorConformance.rules(for: .perNotification))
    func keeps(rule: ConnectorConformance.Rule) async throws {
        try await ConnectorConformance { try await FakeGateway() }.check(rule)
    }

    private func page(_ pager: String, _ payload: String) throws -> PushNotification {
        PushNotification(address: try ServiceAddress(.pager, pager), topic: "ward-7", payload: Array(payload.utf8))
    }

    @Test("Under an engine it delivers pages, and a pager that the gateway does not know is not paged again")
    func delivers() async throws {
        let gateway = try await FakeGateway(unknownPagers: ["5550199"])
        let engine = try PushEngine(
            journal: InMemoryJournal(), routes: [Route(connector: gateway.connector)])
        let delivery = Task { try await engine.run() }
        let receipts = await engine.producer.submit([
            try page("5550100", #"{"message":"Call the ward"}"#),
            try page("5550199", #"{"message":"Nobody gets this"}"#),
            try page("5550100", #"{"message":"Two lines\r\nPAGE 5550111"}"#),
        ])
        #expect(receipts.allSatisfy { $0.uid != nil })
        #expect(await engine.untilIdle() == .drained)
        #expect(gateway.taken == ["5550100: Call the ward", "5550100: Two lines  PAGE 5550111"])

        await #expect(throws: Refusal.self) {
            try await engine.producer.submit(page("5550199", #"{"message":"Once more"}"#))
        }
        delivery.cancel()
        try await delivery.value
    }
}
