import Scratch
import Testing

@testable import HoldfastService

@Suite struct DescriptorPlanTests {
    private func plan(_ text: String) throws -> DescriptorPlan {
        let folder = try TemporaryFolder()
        try folder.write("c.yaml", text)
        return DescriptorPlan(try HoldfastConfiguration.load(file: folder("c.yaml")))
    }

    @Test("What is kept grows with routes, their connections and the admin page") func kept() throws {
        let one = try plan("routes: [{endpoint: \"http://127.0.0.1:1\"}]")
        let two = try plan(
            """
            routes:
              - {name: a, topics: [a], endpoint: "http://127.0.0.1:1", connections: 8}
              - {name: b, topics: [b], endpoint: "http://127.0.0.1:1"}
            admin: {listen: "127.0.0.1:0", connections: 50}
            """)
        #expect(two.kept - one.kept == DescriptorPlan.route(connections: 8) + 51)
        #expect(one.listeners.isEmpty && one.room(within: 1024) == 1024 - one.kept)
    }

    @Test("Where little is left the admin page takes a quarter of it at most, and that is told") func page() throws {
        let plan = try plan(
            """
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:1"}}
            admin: {listen: "127.0.0.1:0", connections: 50}
            """)
        let essential = plan.kept - 51
        #expect(plan.adminConnections(within: plan.kept + 1000) == 50)
        #expect(plan.adminConnections(within: essential + 100) == 25)
        #expect(plan.kept(within: essential + 100) == essential + 26 && plan.room(within: essential + 100) == 74)
        #expect(plan.adminConnections(within: 64) == 4)
        let words = try #require(plan.warning(within: essential + 100))
        #expect(words.contains("admin.connections is 50") && words.contains("the admin page gets 25"), "\(words)")
    }

    @Test("The listeners share what is left, and have a few connections in any case") func room() throws {
        let plan = try plan(
            "gateway: {http2: {listen: \"127.0.0.1:1\"}, binary: {listen: \"127.0.0.1:2\", topic: a, connections: 500}}"
        )
        #expect(plan.wanted == plan.kept + 1500)
        #expect(plan.room(within: 1024) == 1024 - plan.kept)
        #expect(plan.room(within: 20) == 8)
        #expect(plan.warning(within: plan.wanted) == nil)
        let words = try #require(plan.warning(within: 1024))
        #expect(words.contains("may have 1024") && words.contains("may take \(plan.wanted)"))
        #expect(words.contains("gateway.http2.connections is 1000; gateway.binary.connections is 500"))
    }
}

@Suite struct DescriptorLimitTests {
    @Test("The soft limit is raised to the hard one, and no further than anybody needs") func raised() {
        #expect(DescriptorLimit(soft: 1024, hard: 65536).raised == 65536)
        #expect(DescriptorLimit(soft: 1024, hard: .max).raised == DescriptorLimit.greatest)
        #expect(DescriptorLimit(soft: .max, hard: .max).raised == .max)
        #expect((DescriptorLimit.current?.soft ?? 0) > 0)
    }
}
