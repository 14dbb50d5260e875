import Foundation
import Holdfast
import HoldfastGateway
import Scratch
import Testing

@testable import HoldfastService

@Suite("Another configuration beside the one that runs")
struct ServiceReloadTests {
    private func settings(_ text: String) throws -> HoldfastConfiguration {
        let folder = try TemporaryFolder()
        try folder.write("c.yaml", text)
        return try HoldfastConfiguration.load(file: folder("c.yaml"), environment: [:])
    }

    @Test("A route whose terms alone have changed keeps its connector, any other change is another one")
    func connectors() throws {
        func text(_ one: String) -> String {
            """
            journal: {path: j}
            routes:
              - {name: same, endpoint: "http://127.0.0.1:1", topics: [a]}
              - {name: one, endpoint: "http://127.0.0.1:1", topics: [b]\(one)}
            gateway: {http2: {listen: "127.0.0.1:1"}}
            """
        }
        let old = try settings(text(""))
        let routes = try ServicePlan.routes(old)
        func kept(_ one: String) throws -> [String] {
            try ServiceReload(from: old, routes, to: try settings(text(one))).kept.map(\.settings.name)
        }
        #expect(try kept("") == ["same", "one"])
        #expect(try kept(", connections: 3, rate: {per-second: 5}, scale: {grow-above: 3}") == ["same", "one"])
        #expect(try kept(", streams: 7") == ["same"])
        #expect(try kept(", send-deadline: 7s") == ["same"])
    }

    @Test("What can't be changed while it runs is named, and stays what it was")
    func restart() throws {
        let old = try settings(
            "journal: {path: /j}\nroutes: [{endpoint: \"http://127.0.0.1:1\"}]\ngateway: {http2: {listen: \"127.0.0.1:1\"}}"
        )
        let new = try settings(
            """
            journal: {path: /k}
            routes: [{endpoint: "http://127.0.0.1:1"}]
            gateway: {http2: {listen: "127.0.0.1:2"}, binary: {listen: "127.0.0.1:3", topic: t}, drain-limit: 3s}
            admin: {listen: "127.0.0.1:4"}
            limits: {window: 7}
            """)
        let reload = try ServiceReload(from: old, try ServicePlan.routes(old), to: new)
        #expect(reload.needsRestart == ["journal", "admin", "gateway.http2.listen", "gateway.binary.listen"])
        #expect(reload.configuration.journal.path == "/j" && reload.configuration.admin.listen == nil)
        #expect(reload.configuration.gateway.http2?.listen.port == 1 && reload.configuration.gateway.binary == nil)
        #expect(
            reload.configuration.gateway.drainLimit == .seconds(3) && reload.configuration.limits.engine.window == 7)
    }
}
