import Foundation
import Scratch
import Testing

@Suite("A service with a sealed journal") struct SealedServiceTests {
    private func ids(_ key: String) async throws -> [String] {
        try await Tool.run("journal", "key", "list", key).output.split(separator: "\n").map(String.init)
    }

    private func sealedWith(_ world: ServiceWorld, _ key: String) async throws -> [String] {
        let status = try await Tool.run(
            "journal", "status", "--journal", world.folder("push.journal"), "--key-file", key, "--json")
        return try status.json()["sealedWith"] as? [String] ?? [status.errors]
    }

    private func status(_ world: ServiceWorld, key: String?) async throws -> Tool.Result {
        try await Tool.run(
            "status", "--journal", world.folder("push.journal"),
            environment: key.map { ["HOLDFAST_JOURNAL_KEY_FILE": $0] } ?? [:])
    }

    /// The process says how it is, whoever asks.
    private func withoutKey(_ world: ServiceWorld) async throws {
        for key in [nil, world.folder("none")] {
            let running = try await status(world, key: key)
            #expect(running.status == 0 && running.output.hasPrefix("healthy: "), "\(running)")
        }
    }

    @Test("A reload takes a new key up under traffic; one that lacks a key that is needed is refused, and all goes on")
    func reload() async throws {
        let world = try await ServiceWorld()
        let key = world.folder("journal.key")
        _ = try await Tool.run("journal", "key", "new", key)
        let first = try await ids(key)
        let tool = try await world.serve(environment: ["HOLDFAST_JOURNAL_KEY_FILE": key])
        let sender = try world.send(2000, journal: "sender")
        #expect(try await waitUntil { try world.mock.taken() >= 500 })
        #expect(try await sealedWith(world, key) == first)

        _ = try await Tool.run("journal", "key", "add", key)
        let both = try await ids(key)
        #expect(both.count == 2 && both.last == first[0])
        tool.kill(SIGHUP)
        #expect(try await waitUntilAsync { try await sealedWith(world, key) == both })

        let whole = try world.folder.read("journal.key")
        try world.folder.write("journal.key", whole.split(separator: "\n").prefix(2).joined(separator: "\n"))
        tool.kill(SIGHUP)
        #expect(
            try await waitUntilAsync {
                try await world.get("/metrics").text.contains("holdfast_reloads_total{result=\"refused\"} 1\n")
            })
        #expect(try world.log.contains("sealed with key \(first[0])"))
        try world.folder.write("journal.key", whole)

        #expect(try await sender.result().status == 0)
        #expect(try await waitUntil { try world.mock.taken() == 2000 })
        try await withoutKey(world)
        #expect(try await world.stop().status == 0)
        let rest = try await status(world, key: world.folder("none"))
        #expect(rest.status == 78 && rest.errors.contains("there is no key file"), "\(rest)")
        let opened = try await status(world, key: key)
        #expect(opened.status == 3 && opened.output.contains("is at rest"), "\(opened)")
        for file in ["entries", "blacklist"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: world.folder("push.journal/\(file)/data.mdb")))
            #expect(data.range(of: Data("\"alert\"".utf8)) == nil)
        }
    }
}
