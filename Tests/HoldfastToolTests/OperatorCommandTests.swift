import Foundation
import Holdfast
import HoldfastJournal
import HoldfastTesting
import Scratch
import Testing

/// What operators do, to a journal in use, by way of its owner's socket, and to one at rest.
@Suite("Steering a journal", .serialized)
struct OperatorCommandTests {
    @Test("Lanes are listed with their state and resumed, live and at rest", arguments: [false, true])
    func lanes(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: live) {
            let listed = try await world.tool("lanes", "list", "--json")
            #expect(listed.status == 0, "\(listed.errors)")
            let lane = try #require(
                try listed.lines().first { $0["lane"] as? String == "default/considerate/at-least-once" })
            #expect(lane["state"] as? String == "paused" && lane["reason"] as? String == "incident")
            #expect(lane["unconfirmed"] as? Int == 20 && lane["since"] is String)
            let always: Set = ["lane", "state", "reason", "since", "unconfirmed", "deferred", "mark"]
            #expect(try listed.keys() == (live ? always.union(["isServed", "route"]) : always))
            if live {
                let route = try #require(lane["route"] as? [String: Any])
                #expect(
                    Set(route.keys).isSuperset(of: ["endpoint", "connection", "isAway", "inFlight", "suspects"]))
            }
            let text = try await world.tool("lanes", "list")
            #expect(text.output.contains("because: incident"))

            let unknown = try await world.tool("lanes", "pause", "other")
            #expect(unknown.status == 66 && unknown.errors.contains("default/immediate/at-least-once"))
            let paused = try await world.tool("lanes", "pause", "default/immediate", "--reason", "x", "--json")
            #expect(try paused.lines().count == 2 && paused.keys() == ["lane", "state", "reason"])
            let resumed = try await world.tool("lanes", "resume", "--all", "--json")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(try resumed.lines().allSatisfy { $0["state"] as? String == "running" })
            #expect(try resumed.lines().count == 4 && resumed.keys() == ["lane", "state"])
            if live { #expect(await waitUntil { world.connector.sent.count == 30 }) }
        }
        #expect(try await world.count("unconfirmed") == (live ? 0 : 20))
    }

    @Test("A lane that is paused at rest is paused when its owner comes, and goes on when it is resumed")
    func pauseLasts() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: true) {
            let waiting = try await world.count("unconfirmed")
            #expect(waiting == 20)
            let resumed = try await world.tool("lanes", "resume", "default/considerate/at-least-once")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(await waitUntil { world.connector.sent.count == 30 })
        }
    }

    @Test("What waits is taken back by a filter, with consent only, live and at rest", arguments: [false, true])
    func drop(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: live) {
            let refused = try await world.tool("journal", "drop", "--topic", "b")
            #expect(refused.status == 64 && refused.errors.contains("--yes"), "\(refused.errors)")
            #expect(try await world.count("unconfirmed") == 20)
            let dropped = try await world.tool("journal", "drop", "--topic", "b", "--yes", "--json")
            #expect(dropped.status == 0, "\(dropped.errors)")
            #expect(try dropped.keys() == ["matched", "withdrawn", "unknown", "gone"])
            #expect(try dropped.count("matched") == 10 && dropped.count("withdrawn") == 10)
            let again = try await world.tool("journal", "drop", "--topic", "b", "--yes", "--json")
            #expect(try again.status == 0 && again.count("matched") == 0)
            let unknown = try await world.tool("journal", "drop", "999", "--yes")
            #expect(unknown.status == 66 && unknown.errors.contains("no such unconfirmed entries"), "\(unknown.errors)")
            // The rejection is not touched.
            #expect(try await world.count("rejections") == 1)
            #expect(try await world.count("unconfirmed") == 10)
        }
    }

    @Test("Without a word which ones, nothing is dropped, retried or deleted")
    func needsChoice() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        for command in [
            ["journal", "drop"], ["rejections", "retry"], ["rejections", "discard"], ["blacklist", "remove"],
        ] {
            let result = try await Tool.start(
                command + ["--journal", world.journal] + (command[1] == "retry" ? [] : ["--yes"])
            )
            .result()
            #expect(result.status == 64, "\(command) \(result.errors)")
        }
        for arguments in [["5", "--all"], ["5", "--uids", "6"], ["x"], ["--state", "rejected", "--all"]] {
            let result = try await Tool.start(["journal", "drop", "--yes", "--journal", world.journal] + arguments)
                .result()
            #expect(result.status == 64, "\(arguments) \(result.errors)")
        }
        #expect(try await world.count("unconfirmed") == 20)
    }

    @Test("A rejection is shown and sent again as a new entry, live and at rest", arguments: [false, true])
    func retry(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: live) {
            let listed = try await world.tool("rejections", "list", "--reason", "payloadtoolarge", "--json")
            let row = try #require(try listed.lines().first)
            #expect(row["reason"] as? String == "PayloadTooLarge" && row["state"] as? String == "rejected")
            #expect(!listed.output.contains(OperatorWorld.token(3)))
            let uid = try #require(row["uid"] as? Int)
            #expect(
                try await world.tool("rejections", "show", "\(uid)", "--reveal").output.contains(OperatorWorld.token(3))
            )
            #expect(try await world.tool("rejections", "show", "11").status == 66)
            #expect(try await world.tool("rejections", "list", "--topic", "b", "--json").output.isEmpty)

            let missing = try await world.tool("rejections", "retry", "999")
            #expect(missing.status == 66, "\(missing.errors)")
            let retried = try await world.tool("rejections", "retry", "\(uid)", "--json")
            #expect(retried.status == 0, "\(retried.errors)")
            #expect(try retried.keys() == ["rejection", "uid"])
            #expect(try retried.lines().first?["uid"] as? Int == 31)
            if live {
                #expect(
                    await waitUntil { world.connector.sent.count { $0.recipient.text == OperatorWorld.token(3) } == 2 })
            }
            #expect(try await world.count("rejections") == 0)
        }
    }

    @Test("A rejection that would be refused again stays, and the reason is told")
    func refusedAgain() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        #expect(try await world.tool("blacklist", "add", OperatorWorld.token(3)).status == 0)
        let retried = try await world.tool("rejections", "retry", "--all", "--json")
        #expect(retried.status == 65, "\(retried.errors)")
        #expect(try retried.keys() == ["rejection", "refused", "detail"])
        #expect(try await world.count("rejections") == 1)
    }

    @Test("Rejections are deleted with consent only, live and at rest", arguments: [false, true])
    func discard(live: Bool) async throws {
        let world = try OperatorWorld()
        try await world.fill()
        try await world.using(live: live) {
            #expect(try await world.tool("rejections", "discard", "--older-than", "0s").status == 64)
            #expect(try await world.count("rejections") == 1)
            let kept = try await world.tool("rejections", "discard", "--older-than", "1h", "--yes", "--json")
            #expect(try kept.status == 0 && kept.count("matched") == 0)
            let unknown = try await world.tool("rejections", "discard", "999", "--yes")
            #expect(unknown.status == 66 && unknown.errors.contains("no such rejections"), "\(unknown.errors)")
            let discarded = try await world.tool("rejections", "discard", "--all", "--yes", "--json")
            #expect(try discarded.keys() == ["matched", "discarded"] && discarded.count("discarded") == 1)
            #expect(try await world.count("rejections") == 0)
        }
    }

    @Test("An owner that serves no socket is named, and what to do; reading works all the same")
    func ownerWithoutSocket() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        let journal = try LMDBJournal(directory: world.journal)
        defer { journal.close() }
        let result = try await world.tool("lanes", "resume", "--all")
        #expect(result.status == 75)
        #expect(result.errors.contains("process \(ProcessInfo.processInfo.processIdentifier)"), "\(result.errors)")
        #expect(result.errors.contains("ControlSocket"))
        let listed = try await world.tool("lanes", "list")
        #expect(listed.status == 0 && listed.errors.contains("no control socket"), "\(listed.errors)")
        #expect(listed.output.contains("incident"))
        let connect = try await world.tool("routes", "connect", "--all")
        #expect(connect.status == 75 && connect.errors.contains("is in use by process"), "\(connect.errors)")
        #expect(!connect.errors.contains("nothing waits"), "\(connect.errors)")
        let status = try await world.tool("status")
        #expect(status.status == 1 && status.output.contains("\n  next: "), "\(status.output)")
    }

    @Test("Someone who reads a journal at rest for a moment is waited for; one who goes on reading is named")
    func readers() async throws {
        let world = try OperatorWorld()
        try await world.fill()
        let reader = try JournalReader(directory: world.journal)
        let long = try await world.tool("lanes", "resume", "--all")
        #expect(long.status == 75)
        #expect(long.errors.contains("process \(ProcessInfo.processInfo.processIdentifier), which reads it"))
        let running = try Tool.start(["lanes", "resume", "--all", "--journal", world.journal])
        try await Task.sleep(for: .milliseconds(300))
        reader.close()
        let short = try await running.result()
        #expect(short.status == 0, "\(short.errors)")
    }

    @Test("Without a journal there is nothing to steer")
    func noJournal() async throws {
        let world = try OperatorWorld()
        for command in [
            ["lanes", "list"], ["lanes", "resume", "--all"], ["blacklist", "add", "00ff"],
            ["journal", "drop", "--all"],
            ["rejections", "list"],
        ] {
            let result = try await Tool.start(command + ["--journal", world.journal]).result()
            #expect(result.status == 66, "\(command): \(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: world.journal))
    }
}
