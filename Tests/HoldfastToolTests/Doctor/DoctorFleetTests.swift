import Foundation
import Holdfast
import Scratch
import TestPostgres
import Testing

@Suite("holdfast doctor on a host of a fleet", .serialized, .enabled(if: PostgresProgram.isWanted))
struct DoctorFleetTests {
    @Test("It finds the database, what that survives, and the lease of a host's journal; and a database that is away")
    func database() async throws {
        let world = try await FleetWorld("alpha")
        let result = try await world.tool(on: "alpha", "doctor", "--json", "--no-probe")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]], "\(result.errors)")
        func found(_ check: String) -> [String] {
            findings.filter { $0["check"] as? String == check }.map { "\($0["level"] ?? "") \($0["found"] ?? "")" }
        }
        #expect(found("database").first?.hasPrefix("ok") == true, "\(result.output)")
        #expect(found("lease") == ["ok host alpha renews it"], "\(result.output)")
        #expect(found("answer").first?.hasPrefix("ok") == true, "\(result.output)")
        #expect(!found("durability").isEmpty)
        try world.configure("beta", user: world.service, port: 1)
        let away = try await world.tool(on: "beta", "doctor")
        #expect(away.status == 78 && away.output.contains("fault    database"), "\(away.output)")
    }

    @Test("Where the running service of a host listens is its own address, and not another process's")
    func addresses() async throws {
        let world = try await FleetWorld("alpha")
        // As with ports that the configuration chooses.
        var text = try String(contentsOfFile: world.configuration("alpha"), encoding: .utf8)
        let log = try world.log("alpha")
        for (key, words) in [("http2:", "serving http2 on 127.0.0.1:"), ("admin:", "health and metrics on 127.0.0.1:")]
        {
            let port = try #require(log.range(of: words)).upperBound
            text.replace(
                "\(key) {listen: \"127.0.0.1:0\"",
                with: "\(key) {listen: \"127.0.0.1:\(log[port...].prefix { $0.isNumber })\"")
        }
        try world.folder.write("alpha.yaml", text)
        let result = try await world.tool(on: "alpha", "doctor", "--json", "--no-network")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]], "\(result.errors)")
        let found = findings.filter { $0["check"] as? String == "address" }.map {
            "\($0["level"] ?? "") \($0["found"] ?? "")"
        }
        #expect(found.count == 2 && found.allSatisfy { $0.hasPrefix("ok the running service listens on ") }, "\(found)")
        // Warnings may be about a busy machine.
        #expect(result.status != 78, "\(result.output)")
    }

    @Test(
        "The directory of another running host is refused by the check and the doctor, in the words of serve; its own is not"
    )
    func directoryOfAnother() async throws {
        let world = try await FleetWorld("alpha")
        try world.configure("beta", user: world.service)
        var text = try String(contentsOfFile: world.configuration("beta"), encoding: .utf8)
        text.replace("path: beta", with: "path: alpha")
        try world.folder.write("beta.yaml", text)
        let served = try await Tool.run("serve", "--config", world.configuration("beta"))
        let checked = try await Tool.run("serve", "--check", "--config", world.configuration("beta"))
        let words = "is in use by process "
        #expect(served.status == 73 && checked.status == 73, "\(served.errors) \(checked.output) \(checked.errors)")
        for told in [served.errors, checked.output] {
            #expect(told.contains(words) && told.contains(", host alpha, which has its working copies"), "\(told)")
        }
        let doctor = try await world.tool(on: "beta", "doctor", "--json", "--no-probe")
        let findings = try #require(try doctor.json()["findings"] as? [[String: Any]], "\(doctor.errors)")
        let copies = findings.first { $0["check"] as? String == "copies" }
        #expect(copies?["level"] as? String == "fault", "\(doctor.output)")
        #expect((copies?["found"] as? String)?.contains(", host alpha, which has its working copies") == true)
        #expect((copies?["next"] as? String)?.contains("73") == true)

        // Its own service runs.
        let own = try await Tool.run("serve", "--check", "--config", world.configuration("alpha"))
        #expect(own.status == 0, "\(own.output) \(own.errors)")
        // Also with another name, which it gets at the next start: it listens where the configuration says.
        let log = try world.log("alpha")
        let port = try #require(log.range(of: "health and metrics on 127.0.0.1:")).upperBound
        text.replace(
            "admin: {listen: \"127.0.0.1:0\"",
            with: "admin: {listen: \"127.0.0.1:\(log[port...].prefix { $0.isNumber })\"")
        try world.folder.write("renamed.yaml", text)
        let renamed = try await Tool.run("serve", "--check", "--config", world.configuration("renamed"))
        #expect(renamed.status == 0, "\(renamed.output) \(renamed.errors)")
    }

    /// What it says of a start that waits.
    private func starts(_ world: FleetWorld, _ host: String) async throws -> [[String: Any]] {
        let result = try await world.tool(on: host, "doctor", "--json", "--no-probe")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]], "\(result.errors)")
        return findings.filter { $0["check"] as? String == "start" }
    }

    @Test(
        "What the start of a host waits for is a fault: also a database that is full, of which asking it tells nothing")
    func waiting() async throws {
        let world = try await FleetWorld()
        #expect(try await starts(world, "operator").isEmpty)
        try world.fillDisk()
        defer { try? world.emptyDisk() }
        try world.configure("gamma", user: world.service)
        let tool = try Tool.start(["serve", "--config", world.configuration("gamma")])
        defer { tool.kill(SIGKILL) }
        #expect(try await waitUntil { try tool.errors.contains("is waited for") })
        let found = try await starts(world, "gamma")
        #expect(found.count == 1 && found.first?["level"] as? String == "fault", "\(found)")
        let words = found.first?["found"] as? String ?? ""
        #expect(words.hasPrefix("process \(tool.processIdentifier) has been starting for "), "\(words)")
        #expect(words.contains("No space left on device"), "\(words)")
        #expect((found.first?["next"] as? String)?.contains("make room on the disk of the database's server") == true)
        try world.emptyDisk()
        #expect(try await waitUntil { try tool.errors.contains("serving http2 on ") })
        #expect(try await starts(world, "gamma").isEmpty)
        // Nor does a note that a process has left behind say anything.
        tool.kill(SIGKILL)
        #expect(await waitUntil { !tool.isRunning })

        // A standby that is away answers no commit, and nothing is wrong otherwise.
        try world.cluster.reload(["synchronous_standby_names": "'nobody'"])
        defer { try? world.cluster.reload(["synchronous_standby_names": "''"]) }
        try world.configure("epsilon", user: world.service)
        let held = try Tool.start(["serve", "--config", world.configuration("epsilon")])
        defer { held.kill(SIGKILL) }
        #expect(try await waitUntil { try held.errors.contains("while a synchronous standby is away") })
        let holding = try await starts(world, "epsilon")
        #expect((holding.first?["found"] as? String)?.contains("synchronous standby is away") == true, "\(holding)")
        try world.cluster.reload(["synchronous_standby_names": "''"])
        #expect(try await waitUntil { try held.errors.contains("serving http2 on ") })
        #expect(try await starts(world, "epsilon").isEmpty)
        held.kill(SIGKILL)
        #expect(await waitUntil { !held.isRunning })

        try world.configure("delta", user: world.service, port: 1)
        let away = try Tool.start(["serve", "--config", world.configuration("delta")])
        #expect(try await waitUntil { try away.errors.contains("is waited for") })
        let there = try await starts(world, "delta")
        #expect((there.first?["found"] as? String)?.contains("127.0.0.1:1 can't be used now") == true, "\(there)")
        away.kill(SIGKILL)
        #expect(await waitUntil { !away.isRunning })
        #expect(try await starts(world, "delta").isEmpty)
    }
}
