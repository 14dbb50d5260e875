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
        #expect(try await status(world, key: key).output.contains("warning reload-refused"))
        try world.folder.write("journal.key", whole)
        tool.kill(SIGHUP)
        #expect(
            try await waitUntilAsync {
                try await world.get("/metrics").text.contains("holdfast_reloads_total{result=\"taken\"} 2\n")
            })

        #expect(try await sender.result().status == 0)
        #expect(try await waitUntil { try world.mock.taken() == 2000 })
        try await withoutKey(world)
        #expect(try await world.stop().status == 0)
        let rest = try await status(world, key: world.folder("none"))
        #expect(rest.status == 3 && rest.output.contains("there is no key file"), "\(rest)")
        let opened = try await status(world, key: key)
        #expect(opened.status == 3 && opened.output.contains("is at rest"), "\(opened)")
        for file in ["entries", "blacklist"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: world.folder("push.journal/\(file)/data.mdb")))
            #expect(data.range(of: Data("\"alert\"".utf8)) == nil)
        }
    }

    // MARK: The key as systemd's credential

    /// A service that got its key from systemd, as operators' shells do not.
    private func withCredential() async throws -> ServiceWorld {
        let world = try await ServiceWorld()
        try FileManager.default.createDirectory(atPath: world.folder("credentials"), withIntermediateDirectories: true)
        _ = try await Tool.run("journal", "key", "new", world.folder("credentials/journal.key"))
        try world.writeConfiguration(journal: ", key-file: $CREDENTIALS_DIRECTORY/journal.key")
        try await world.serve(environment: ["CREDENTIALS_DIRECTORY": world.folder("credentials")])
        return world
    }

    private func tool(_ world: ServiceWorld, _ words: String, key: Bool = false) async throws -> Tool.Result {
        try await Tool.start(
            words.split(separator: " ").map(String.init) + ["--config", world.folder("holdfast.yaml")],
            environment: key ? ["HOLDFAST_JOURNAL_KEY_FILE": world.folder("credentials/journal.key")] : [:]
        ).result()
    }

    private static let lane = "example/immediate/at-least-once"
    private static let token = String(repeating: "0", count: 56) + "10000000"

    @Test(
        "What the running service can answer needs no key: the operator's shell has none, and all of the runbook works")
    func steeredWithoutKey() async throws {
        let world = try await withCredential()
        let paused = try await tool(world, "lanes pause --all --reason incident")
        #expect(paused.status == 0 && paused.output.contains("\(Self.lane): paused"), "\(paused)")
        let sender = try world.send(20, journal: "sender")
        #expect(
            try await waitUntilAsync {
                try await tool(world, "journal list --count --json").output.contains(#""count":20"#)
            })
        for (command, status, words) in [
            ("lanes list", Int32(0), "paused"), ("tags pause spring", 0, "spring: paused"), ("tags list", 0, "spring"),
            ("journal list", 0, Self.lane), ("journal show 1", 0, "waiting"), ("journal status", 0, "unconfirmed"),
            ("journal find --token \(Self.token)", 0, "waiting"), ("journal find --tag nothing", 1, ""),
            ("journal drop 1 --yes", 0, "withdrawn"), ("rejections list", 0, ""), ("rejections list --count", 0, ""),
            ("blacklist add \(Self.token) --reason Operator", 0, ""), ("blacklist list", 0, "Operator"),
            ("blacklist check \(Self.token)", 1, "blacklisted"), ("blacklist export", 0, Self.token),
            ("outcomes list", 0, "withdrawn"), ("outcomes readers", 0, ""), ("status", 0, "healthy"),
            ("lanes resume \(Self.lane)", 0, "running"), ("top --once", 0, "example"),
        ] {
            let result = try await tool(world, command)
            #expect(result.status == status, "\(command): \(result.output)\(result.errors)")
            #expect(words.isEmpty || result.output.contains(words), "\(command): \(result.output)\(result.errors)")
        }
        #expect(try await sender.result().status == 0)
        try await examinedWithoutKey(world)
        try await restWithoutKey(world)
    }

    /// What reads the files names the means by which a command gets the key.
    private func examinedWithoutKey(_ world: ServiceWorld) async throws {
        for command in [
            "journal verify", "journal backup \(world.folder("copy"))", "journal export", "journal quarantine list",
        ] {
            let refused = try await tool(world, command)
            #expect(refused.status == 78, "\(command): \(refused)")
            for words in [
                "HOLDFAST_JOURNAL_KEY_FILE", "/run/credentials/holdfast.service/journal.key", "is sealed with key ",
            ] { #expect(refused.errors.contains(words), "\(command): \(refused.errors)") }
            #expect(try await tool(world, command, key: true).status == 0, "\(command)")
        }
        let check = try await tool(world, "serve --check")
        #expect(check.status == 0 && check.output.contains("credential journal.key"), "\(check)")
        let doctor = try await tool(world, "doctor --no-network --json")
        #expect(try doctor.json()["faults"] as? Int == 0, "\(doctor.output)")
        #expect(
            doctor.output.contains("were not looked at") && doctor.output.contains("it answered after"),
            "\(doctor.output)")
    }

    private func restWithoutKey(_ world: ServiceWorld) async throws {
        #expect(try await world.stop().status == 0)
        let status = try await tool(world, "status")
        #expect(status.status == 3 && status.output.hasPrefix("nothing runs: "), "\(status)")
        #expect(status.output.contains("HOLDFAST_JOURNAL_KEY_FILE"), "\(status)")
        #expect(try await tool(world, "status --json").json()["unconfirmed"] == nil)
        let lanes = try await tool(world, "lanes list")
        #expect(lanes.status == 78 && lanes.errors.contains("HOLDFAST_JOURNAL_KEY_FILE"), "\(lanes)")
        #expect(try await tool(world, "lanes list", key: true).status == 0)
    }
}
