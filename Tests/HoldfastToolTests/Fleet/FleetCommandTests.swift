import Foundation
import Holdfast
import Scratch
import TestPostgres
import Testing

/// What operators do from a machine on which nothing runs, with the rights of an operator alone.
@Suite("Commands to a fleet", .serialized, .timeLimit(.minutes(3)), .enabled(if: PostgresProgram.isWanted))
struct FleetCommandTests {
    @Test("An operator's machine finds what any host has, pauses everywhere, and is told journal and host")
    func everywhere() async throws {
        let world = try await FleetWorld("alpha", "beta")
        let listed = try await world.tool("lanes", "list", "--fleet", "--json")
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(
            try Set(listed.lines().map { "\($0["journal"] ?? "") \($0["host"] ?? "")" }) == [
                "alpha alpha", "beta beta",
            ])

        let paused = try await world.tool("tags", "pause", "sale", "--fleet", "--reason", "wrong price", "--json")
        #expect(paused.status == 0 && paused.errors.isEmpty, "\(paused.errors)")
        #expect(try Set(paused.lines().compactMap { $0["journal"] as? String }) == ["alpha", "beta"])
        let uids = try await world.submit(to: "beta", tag: "sale", 1...3)
        _ = try await world.submit(to: "alpha", 4...5)
        let waiting = try #require(uids.first)

        // One that waits, one that has ended, and nothing; by token, tag and UID.
        let one = try await world.tool("journal", "find", "--token", FleetWorld.token(1), "--fleet")
        #expect(one.status == 0, "\(one.errors)")
        #expect(one.output.contains("in journal beta on beta") && one.output.contains("wrong price"), "\(one.output)")
        let tagged = try await world.tool("journal", "find", "--tag", "sa*", "--fleet", "--json")
        #expect(try tagged.lines().count == 3)
        #expect(try tagged.lines().allSatisfy { $0["host"] as? String == "beta" && $0["journal"] as? String == "beta" })
        let delivered = try await waitUntil { try world.mock.taken() == 2 }
        #expect(delivered)
        #expect(
            await waitUntilAsync {
                let result = try? await world.tool(
                    "journal", "find", "--token", FleetWorld.token(4), "--fleet", "--json")
                let line = try? result?.lines().first
                return line?["outcome"] as? String == "confirmed" && line?["journal"] as? String == "alpha"
            })
        let nothing = try await world.tool("journal", "find", "--token", FleetWorld.token(9), "--fleet")
        #expect(nothing.status == 1 && nothing.errors.contains("alpha on alpha: its history"), "\(nothing.errors)")

        // A UID leads to its journal by itself.
        let shown = try await world.tool("journal", "show", "\(waiting)", "--json")
        #expect(try shown.status == 0 && shown.json()["state"] as? String == "deferred", "\(shown.errors)")
        let byUID = try await world.tool(on: "alpha", "journal", "find", "--uid", "\(waiting)")
        #expect(byUID.status == 0 && byUID.output.contains("wrong price"), "\(byUID.errors)")
        let dropped = try await world.tool("journal", "drop", "\(waiting)", "--yes", "--json")
        #expect(try dropped.status == 0 && dropped.count("withdrawn") == 1, "\(dropped.errors)")

        // For all that, it can't be a host.
        let host = try await world.tool("serve", "--check")
        #expect(host.status == 77 && host.output.contains("migrate --service"), "\(host.output)\(host.errors)")

        // By name.
        let counted = try await world.tool("journal", "list", "--journal-name", "beta", "--count", "--json")
        #expect(try counted.count("count") == 2, "\(counted.errors)")
        let status = try await world.tool("journal", "status", "--journal-name", "beta")
        #expect(status.output.contains("on beta, journal beta") && status.output.contains("sale"), "\(status.output)")
        let statuses = try await world.tool("journal", "status", "--fleet", "--json").lines()
        #expect(statuses.count { $0["journal"] != nil } == 2 && statuses.count { $0["order"] != nil } == 1)
        let tags = try await world.tool("tags", "list", "--fleet")
        #expect(tags.output.contains("JOURNAL") && tags.output.contains("beta"))
        let unknown = try await world.tool("lanes", "list", "--journal-name", "gamma")
        #expect(unknown.status == 66 && unknown.errors.contains("it has alpha, beta"), "\(unknown.errors)")
        let files = try await world.tool("journal", "export", "--journal-name", "beta")
        #expect(files.status == 64 && files.errors.contains("run it on host beta"), "\(files.errors)")
        let none = try await world.tool("lanes", "list")
        #expect(none.status == 66 && none.errors.contains("--journal-name") && none.errors.contains("alpha, beta"))

        let resumed = try await world.tool("tags", "resume", "sale", "other", "--fleet", "--json")
        #expect(try resumed.status == 66 && resumed.lines().count == 2 && resumed.errors.contains("\"other\""))
        #expect(try await waitUntil { try world.mock.taken() == 4 })
    }

    @Test("The status of a host that starts while the database is away says that it runs, and what it waits for")
    func awayAtStart() async throws {
        let world = try await FleetWorld()
        try world.configure("gamma", user: world.service, port: 1)
        let tool = try Tool.start(["serve", "--config", world.configuration("gamma")])
        defer { tool.kill(SIGKILL) }
        let waits = try await waitUntil { try tool.errors.contains("is waited for") }
        #expect(waits)
        let status = try await world.tool(on: "gamma", "status", "--json")
        #expect(status.status == 1, "\(status.output)\(status.errors)")
        let said = try status.json()
        #expect(said["state"] as? String == "running" && said["healthy"] as? Bool == false)
        #expect(said["owner"] as? String == "process \(tool.processIdentifier)")
        let conditions = said["conditions"] as? [[String: Any]] ?? []
        #expect(conditions.map { $0["kind"] as? String } == ["database-away"])
        #expect((conditions.first?["what"] as? String)?.contains("127.0.0.1:1 can't be used now") == true)
        // A note that a process has left behind says nothing.
        tool.kill(SIGKILL)
        let isGone = await waitUntil { !tool.isRunning }
        #expect(isGone)
        let after = try await world.tool(on: "gamma", "status")
        #expect(after.status == 69 && after.output.isEmpty, "\(after.output)")
    }

    @Test("A host that ends while it starts leaves nothing that is missed, and what it leaves is closed by another")
    func unfinishedOpening() async throws {
        let world = try await FleetWorld("alpha")
        try world.leaveUnopened("beta")
        let listed = try await world.tool("lanes", "list", "--fleet", "--json")
        #expect(try listed.status == 0 && listed.lines().allSatisfy { $0["journal"] as? String == "alpha" })
        #expect(listed.errors.isEmpty, "\(listed.errors)")
        let status = try await world.tool(on: "alpha", "postgres", "status")
        #expect(status.status == 0 && status.output.contains("journal beta: closed"), "\(status.output)")
        let isClosed = try await waitUntil { try !world.hasOwner("beta") }
        #expect(isClosed)
    }

    @Test("Lanes are paused on all hosts, what the blacklist has on one is checked on any, and status names each owner")
    func lanesAndBlacklist() async throws {
        let world = try await FleetWorld("alpha", "beta")
        // It looks twice, so beside the others.
        async let operators = world.tool("postgres", "status")
        async let hosts = world.tool(on: "alpha", "postgres", "status", "--json")
        let paused = try await world.tool("lanes", "pause", "apns/immediate", "--fleet", "--reason", "x", "--json")
        #expect(paused.status == 0, "\(paused.errors)")
        #expect(try Set(paused.lines().compactMap { $0["host"] as? String }) == ["alpha", "beta"])
        let states = try await world.tool("lanes", "list", "--fleet", "--json").lines()
            .filter { ($0["lane"] as? String)?.hasPrefix("apns/immediate") ?? false }
        #expect(!states.isEmpty && states.allSatisfy { $0["state"] as? String == "paused" })
        let unknown = try await world.tool("lanes", "pause", "fcm", "--fleet")
        #expect(unknown.status == 66 && unknown.errors.contains("the fleet has no lane"), "\(unknown.errors)")
        let orders = try await world.tool("lanes", "list", "--fleet").output.split(separator: "\n")
        #expect(orders.count { $0.hasPrefix("order ") } == 1 && orders[0].contains("lanes apns/immediate paused since"))
        #expect(try await world.tool("lanes", "resume", "--all", "--fleet").status == 0)

        // By any owner, from a machine without a journal; and each host's own copy has it.
        let added = try await world.tool("blacklist", "add", FleetWorld.token(1), "--reason", "UserDeleted")
        #expect(added.status == 0, "\(added.errors)")
        #expect(try await world.tool("blacklist", "check", FleetWorld.token(1)).status == 1)
        #expect(try await world.tool("blacklist", "check", FleetWorld.token(2)).status == 0)
        #expect(
            await waitUntilAsync {
                let result = try? await world.tool(on: "beta", "blacklist", "check", FleetWorld.token(1))
                return result?.status == 1
            })
        let list = try await world.tool(on: "beta", "blacklist", "list", "--reveal")
        #expect(
            list.output.contains(FleetWorld.token(1)) && list.errors.contains("this is the host's copy"),
            "\(list.errors)")
        let exported = try await world.tool("blacklist", "export", "--journal-name", "beta")
        #expect(exported.output.contains(FleetWorld.token(1)), "\(exported.errors)")
        let removed = try await world.tool("blacklist", "remove", "--reason", "UserDeleted", "--yes", "--json")
        #expect(try removed.count("removed") == 1, "\(removed.errors)")

        let text = try await operators
        #expect(text.status == 0 && text.output.contains("journal alpha: host alpha"), "\(text.errors)")
        let journals = try #require(try await hosts.json()["journals"] as? [[String: Any]])
        #expect(journals.allSatisfy { $0["state"] as? String == "owned" && $0["logBytes"] is Int })
        // A role that was granted nothing is told so, and which grant people need.
        try world.configure("stranger", user: world.stranger)
        for command in [["lanes", "list", "--fleet"], ["tags", "list", "--journal-name", "alpha"]] {
            let refused = try await world.tool(on: "stranger", command)
            #expect(refused.status == 77 && refused.errors.contains("--operators"), "\(command): \(refused.errors)")
        }
        // Nobody listens there, and the password is in no message.
        try world.configure("lost", user: world.operators, port: 1)
        let named = ["lanes", "list", "--journal-name", "alpha", "--timeout", "200ms"]
        for command in [["lanes", "list", "--fleet"], named, ["postgres", "status"]] {
            let lost = try await world.tool(on: "lost", command)
            #expect(lost.status == 69, "\(command): \(lost.errors)")
        }
    }

    @Test("A pause of the fleet holds at hosts that come later and after a kill, and one journal may be let go")
    func lasting() async throws {
        let world = try await FleetWorld("alpha")
        let paused = try await world.tool("lanes", "pause", "--all", "--fleet", "--reason", "night")
        #expect(paused.status == 0, "\(paused.errors)")
        try await world.serve("beta")
        _ = try await world.submit(to: "beta", 1...2)
        _ = try await world.submit(to: "alpha", 3...3)
        world.signal("alpha", SIGKILL)
        try await world.serve("alpha")
        let lines = try await world.tool("lanes", "list", "--fleet", "--json").lines()
        let order = try #require(lines.first)
        #expect(order["lanes"] as? String == "*" && order["reason"] as? String == "night" && order["order"] is Int)
        #expect((order["by"] as? String)?.hasSuffix("on operator, role \(world.operators)") == true, "\(order)")
        #expect(Set(lines.compactMap { $0["journal"] as? String }) == ["alpha", "beta"])
        #expect(lines.allSatisfy { $0["state"] as? String == "paused" && $0["reason"] as? String == "night" })

        // A slip is no exception from the pause.
        for word in ["pause", "resume"] {
            let slip = try await world.tool("lanes", word, "fcm", "--fleet")
            #expect(slip.status == 66 && slip.errors.contains("the fleet has no lane"), "\(slip.errors)")
        }
        #expect(try await world.tool("lanes", "list", "--fleet", "--json").lines().count { $0["order"] != nil } == 1)

        // Of one journal alone: its next start does not undo that.
        let one = try await world.tool("lanes", "resume", "--all", "--journal-name", "beta")
        #expect(one.status == 0, "\(one.errors)")
        #expect(try await waitUntil { try world.mock.taken() == 2 })
        world.signal("beta", SIGKILL)
        try await world.serve("beta")
        _ = try await world.submit(to: "beta", 4...4)
        #expect(try await waitUntil { try world.mock.taken() == 3 })

        let resumed = try await world.tool("lanes", "resume", "apns", "--fleet", "--json")
        #expect(try resumed.status == 0 && resumed.lines().allSatisfy { $0["state"] as? String == "running" })
        #expect(try await waitUntil { try world.mock.taken() == 4 })
        let all = try await world.tool("lanes", "resume", "--all", "--fleet")
        #expect(all.status == 0, "\(all.errors)")
        #expect(try await world.tool("lanes", "list", "--fleet").output.hasPrefix("JOURNAL"))
    }

    @Test("A host that does not answer is told at the end with a code of its own, and hides nothing that others say")
    func silent() async throws {
        let world = try await FleetWorld("alpha", "beta")
        _ = try await world.submit(to: "alpha", 1...1)
        #expect(try await waitUntil { try world.mock.taken() == 1 })
        world.signal("beta", SIGSTOP)
        defer { world.signal("beta", SIGCONT) }
        let found = try await world.tool(
            "journal", "find", "--token", FleetWorld.token(1), "--fleet", "--json", "--timeout", "500ms")
        let lines = try found.lines()
        #expect(found.status == 68 && lines.count == 2, "\(found.errors)")
        #expect(lines[0]["journal"] as? String == "alpha" && lines[0]["outcome"] as? String == "confirmed")
        #expect(
            lines[1]["journal"] as? String == "beta"
                && (lines[1]["error"] as? String)?.contains("withdrawn, so that nobody carries it out later") == true)
        #expect(found.errors.contains("journal beta of host beta did not answer"))
        // What was paused there is not known, so the order is kept.
        let kept = try await world.tool("tags", "resume", "sale", "--fleet", "--timeout", "300ms")
        #expect(kept.status == 68 && kept.errors.contains("is kept"), "\(kept.errors)")
        // The request is withdrawn, and the order is not: nothing says that it is not carried out later.
        #expect(kept.errors.contains("until then it may still send") && !kept.errors.contains("withdrawn"))
        let slip = try await world.tool("lanes", "pause", "fcm", "--fleet", "--timeout", "300ms")
        #expect(slip.status == 68 && slip.errors.contains("is kept"), "\(slip.errors)")
        #expect(slip.errors.contains("the part of the fleet that answered has no lane \"fcm\""), "\(slip.errors)")
        let named = try await world.tool("lanes", "pause", "--all", "--journal-name", "beta", "--timeout", "300ms")
        #expect(named.status == 68 && named.errors.contains("beta"), "\(named.errors)")
        #expect(
            named.errors.contains("withdrawn, so that nobody carries it out later") && !named.errors.contains("kept"))
    }

    @Test("On a host whose journal another has taken over, the other is asked, and not the copy that was left")
    func takenOver() async throws {
        let world = try await FleetWorld("alpha", "beta")
        #expect(try await world.tool("tags", "pause", "sale", "--fleet", "--reason", "wrong price").status == 0)
        let uid = try #require(try await world.submit(to: "alpha", tag: "sale", 1...1).first)
        world.signal("alpha", SIGTERM)
        let isTaken = try await waitUntilAsync {
            let lanes = try await world.tool("lanes", "list", "--fleet", "--json", "--timeout", "300ms").lines()
            return lanes.contains {
                $0["journal"] as? String == "alpha" && $0["host"] as? String == "beta" && $0["lane"] != nil
            }
        }
        #expect(isTaken)
        let dropped = try await world.tool(on: "alpha", "journal", "drop", "\(uid)", "--yes", "--json")
        #expect(try dropped.status == 0 && dropped.count("withdrawn") == 1, "\(dropped.errors)")
        #expect(dropped.errors.contains("journal alpha is with host beta now"), "\(dropped.errors)")
    }

    @Test("A fleet without journals says that nobody was asked, and that an order to it is kept all the same")
    func empty() async throws {
        let world = try await FleetWorld()
        for command in [["lanes", "list"], ["journal", "status"], ["tags", "list"]] {
            let result = try await world.tool(on: "operator", command + ["--fleet"])
            #expect(result.status == 0 && result.errors.contains("no journal of the fleet is served now"), "\(command)")
        }
        let paused = try await world.tool("lanes", "pause", "--all", "--fleet")
        #expect(paused.status == 0 && paused.errors.contains("order 1 is kept, and carried out at each that comes"))
    }

    @Test("A journal that was closed is not waited for: a search says that it was left out, and where its outcomes are")
    func closed() async throws {
        let world = try await FleetWorld("alpha", "beta")
        _ = try await world.submit(to: "beta", 1...1)
        #expect(try await waitUntil { try world.mock.taken() == 1 })
        let uid = try #require(
            try await world.tool("journal", "find", "--token", FleetWorld.token(1), "--fleet", "--json").lines().first?[
                "uid"])
        world.signal("beta", SIGTERM)
        try await world.wait(for: "beta")
        let status = try await world.tool("postgres", "status")
        #expect(status.status == 0 && status.output.contains("journal beta: closed "), "\(status.output)")
        #expect(status.output.contains(" ago by host beta, delivered to the end"), "\(status.output)")

        let found = try await world.tool("journal", "find", "--token", FleetWorld.token(1), "--fleet")
        #expect(found.status == 1, "\(found.errors)")
        for part in ["journal beta was not searched: it was closed by host beta", "--journal COPIES/2.journal", " ago"]
        {
            #expect(found.errors.contains(part), "\(found.errors)")
        }
        let json = try await world.tool("journal", "find", "--token", FleetWorld.token(1), "--fleet", "--json")
        let line = try #require(try json.lines().first)
        #expect(try json.lines().count == 1 && line["journal"] as? String == "beta")
        #expect((line["notSearched"] as? String)?.contains("closed by host beta") == true)

        // By name, or by its UID, nobody is waited for.
        let start = ContinuousClock.now
        for command in [["lanes", "list", "--journal-name", "beta"], ["journal", "show", "\(uid)"]] {
            let named = try await world.tool(on: "operator", command)
            #expect(
                named.status == 68 && named.errors.contains("journal beta is closed"), "\(command): \(named.errors)")
            #expect(named.errors.contains("COPIES/2.journal"))
        }
        #expect(ContinuousClock.now - start < .seconds(20))

        // Both ways that are named lead to it.
        let copy = try await Tool.run(
            "journal", "find", "--token", FleetWorld.token(1), "--journal", world.folder("beta/2.journal"))
        #expect(copy.status == 0 && copy.output.contains("confirmed"), "\(copy.errors)")
        try FileManager.default.removeItem(atPath: world.folder("beta"))
        try await world.serve("beta")
        #expect(
            await waitUntilAsync {
                let again = try? await world.tool("journal", "find", "--token", FleetWorld.token(1), "--fleet")
                return again?.status == 0
            })
    }
}
