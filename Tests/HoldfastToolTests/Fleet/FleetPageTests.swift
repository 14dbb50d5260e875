import Foundation
import Holdfast
import HoldfastPage
import Scratch
import TestPostgres
import Testing

/// The fleet on the operators' page of one of its hosts, over HTTP. What a browser makes of it: InteropTests.
@Suite("A fleet on the page", .serialized, .timeLimit(.minutes(3)), .enabled(if: PostgresProgram.isWanted))
struct FleetPageTests {
    private let check: SchemaCheck

    init() throws {
        let asset = try #require(PageAssets.all.first { $0.path == "api/openapi.json" })
        check = try SchemaCheck(String(decoding: asset.bytes, as: UTF8.self))
    }

    /// An answer that is as openapi.json describes it.
    private func answer(
        _ world: FleetWorld, _ host: String, _ path: String, _ query: String = "", body: String? = nil
    ) async throws -> AnyJSON {
        let answer = try await world.page(host, "/api/\(path)\(query.isEmpty ? "" : "?\(query)")", body: body)
        try #require(answer.status == 200, "\(path): \(answer.text)")
        let json = try AnyJSON(answer.text)
        let method = body == nil ? "get" : "post"
        let schema = try #require(check.operations.first { $0.path == "/api/\(path)" && $0.method == method }).schema
        let faults = check.faults(json, schema)
        #expect(faults.isEmpty, "\(path): \(faults.prefix(5))")
        return json
    }

    private func names(_ rows: AnyJSON?) -> [String] { (rows?.array ?? []).compactMap { $0["journal"]?.text }.sorted() }

    private func journal(_ fleet: AnyJSON, _ name: String) -> AnyJSON? {
        fleet["journals"]?.array.first { $0["journal"]?.text == name }
    }

    private func number(_ value: AnyJSON?) -> Int? { if case .number(let number)? = value { Int(number) } else { nil } }

    @Test(
        "Each host's page has the journals of all hosts and the orders to all of them, gives such orders, and finds anything"
    )
    func everywhere() async throws {
        let world = try await FleetWorld("alpha", "beta")
        for host in ["alpha", "beta"] {
            // A host that has just joined is seen at the next look.
            #expect(
                try await waitUntilAsync {
                    names(try await answer(world, host, "fleet")["journals"]) == ["alpha", "beta"]
                })
            let fleet = try await answer(world, host, "fleet")
            #expect(fleet["host"]?.text == host)
            #expect(number(fleet["hosts"]) == 2 && fleet["orders"]?.array.isEmpty == true)
            let all = fleet["journals"]?.array ?? []
            #expect(all.allSatisfy { $0["severity"]?.text == "fine" && $0["error"] == nil })
            #expect(try await answer(world, host, "service")["fleetHost"]?.text == host)
        }
        // Protected as all other changes are.
        let pause = #"{"tag":"sale","reason":"wrong price"}"#
        let port = try await world.page("alpha", "/api/fleet/tags/pause")
        #expect(port.status == 405)
        let paused = try await answer(world, "alpha", "fleet/tags/pause", body: pause)
        #expect(names(paused["journals"]) == ["alpha", "beta"] && paused["silent"]?.array.isEmpty == true)
        #expect(
            try world.log("alpha").contains(
                "tag \"sale\" was paused for the whole fleet (order 1), because: wrong price; by who has the operators' token, "
                    + "from 127.0.0.1"))
        let uid = try #require(try await world.submit(to: "beta", tag: "sale", 1...3).first)
        let held = try await answer(world, "alpha", "fleet")
        let order = held["orders"]?.array.first
        #expect(order?["tag"]?.text == "sale" && order?["reason"]?.text == "wrong price", "\(held)")
        #expect(order?["by"]?.text == "who has the operators' token at the page of alpha, role \(world.service)")
        #expect(
            try await waitUntilAsync {
                let beta = journal(try await answer(world, "alpha", "fleet"), "beta")
                return beta?["pausedTags"]?.array.first?["tag"]?.text == "sale" && beta?["severity"]?.text == "notice"
            })
        #expect(
            try await waitUntilAsync {
                number(journal(try await answer(world, "alpha", "fleet"), "beta")?["unconfirmed"]) == 3
            })

        try await found(world, uid)
        let slip = try await world.page("alpha", "/api/fleet/tags/resume", body: #"{"tag":"other"}"#)
        #expect(slip.status == 404 && slip.text.contains("nothing was changed"), "\(slip.text)")
        let resumed = try await answer(world, "beta", "fleet/tags/resume", body: #"{"tag":"sale"}"#)
        #expect(names(resumed["journals"]) == ["alpha", "beta"])
        #expect(try await waitUntil { try world.mock.taken() == 3 })
        try await hasNoOrders(world, "alpha")
        try await lanes(world)
    }

    /// What any host has is found and explained at each.
    private func found(_ world: FleetWorld, _ uid: UID) async throws {
        for query in ["token=\(FleetWorld.token(1))", "tag=sale", "uid=\(uid)"] {
            let found = try await answer(world, "alpha", "fleet/find", query)
            let rows = found["found"]?.array ?? []
            #expect(rows.count == (query == "tag=sale" ? 3 : 1), "\(query): \(found)")
            #expect(rows.allSatisfy { $0["journal"]?.text == "beta" && $0["host"]?.text == "beta" })
            #expect(names(found["asked"]) == (query.hasPrefix("uid") ? ["beta"] : ["alpha", "beta"]))
            #expect(found["silent"]?.array.isEmpty == true)
        }
        let entry = try await answer(world, "alpha", "entry", "uid=\(uid)")
        #expect(entry["journal"]?.text == "beta" && entry["host"]?.text == "beta")
        let words = entry["explanation"]?.array.compactMap(\.text).joined(separator: " ") ?? ""
        #expect(words.contains("wrong price"), "\(words)")
        // At home it is explained as ever.
        #expect(try await answer(world, "beta", "entry", "uid=\(uid)")["journal"] == nil)
        let unknown = try await world.page("alpha", "/api/entry?uid=\(UInt64(77) << 44 + 1)")
        #expect(unknown.status == 404 && unknown.text.contains("no journal with the number 77"), "\(unknown.text)")
    }

    private func lanes(_ world: FleetWorld) async throws {
        for body in [#"{}"#, #"{"lanes":"apns","all":true}"#] {
            #expect(try await world.page("alpha", "/api/fleet/lanes/pause", body: body).status == 400)
        }
        let slip = try await world.page("alpha", "/api/fleet/lanes/pause", body: #"{"lanes":"fcm"}"#)
        #expect(slip.status == 404 && slip.text.contains("nothing was changed"), "\(slip.text)")
        let paused = try await answer(
            world, "alpha", "fleet/lanes/pause", body: #"{"lanes":"apns/immediate","reason":"night"}"#)
        #expect(names(paused["journals"]) == ["alpha", "beta"])
        #expect(
            try await waitUntilAsync { try await answer(world, "beta", "fleet")["orders"]?.array.isEmpty == false })
        let held = try await answer(world, "beta", "fleet")
        for name in ["alpha", "beta"] {
            let lanes = journal(held, name)?["lanes"]?.array ?? []
            #expect(lanes.count == 2 && lanes.allSatisfy { $0["state"]?.text == "paused" }, "\(held)")
        }
        #expect(held["orders"]?.array.map { $0["lanes"]?.text } == ["apns/immediate"])
        _ = try await answer(world, "beta", "fleet/lanes/resume", body: #"{"all":true}"#)
        try await hasNoOrders(world, "alpha")
    }

    /// Owners are asked again three seconds later.
    private func hasNoOrders(_ world: FleetWorld, _ host: String) async throws {
        #expect(
            try await waitUntilAsync { try await answer(world, host, "fleet")["orders"]?.array.isEmpty == true })
    }

    @Test("A host that is killed is said within seconds, is named by searches, and its journal's new place is told")
    func killed() async throws {
        let world = try await FleetWorld("alpha", "beta")
        _ = try await answer(world, "alpha", "fleet/tags/pause", body: #"{"tag":"sale"}"#)
        let uid = try #require(try await world.submit(to: "beta", tag: "sale", 1...1).first)
        #expect(
            try await waitUntilAsync {
                number(journal(try await answer(world, "alpha", "fleet"), "beta")?["unconfirmed"]) == 1
            })
        world.signal("beta", SIGKILL)
        let start = ContinuousClock.now
        // By its silence, or since it does not answer, whichever comes first.
        let isSaid = try await waitUntilAsync {
            let beta = try await answer(world, "alpha", "fleet")["journals"]?.array.first
            return beta?["journal"]?.text == "beta" && beta?["severity"]?.text == "fault"
                && (beta?["state"]?.text == "silent" || beta?["error"]?.text != nil)
                && number(beta?["unconfirmed"]) == 1
        }
        #expect(isSaid && .now - start < .seconds(9))
        let search = try await answer(world, "alpha", "fleet/find", "token=\(FleetWorld.token(1))")
        #expect(search["found"]?.array.isEmpty == true && names(search["silent"]) == ["beta"], "\(search)")
        let gone = try await world.page("alpha", "/api/entry?uid=\(uid)")
        #expect(gone.status == 503 && gone.text.contains("journal beta of host beta"), "\(gone.text)")

        let isTaken = try await waitUntilAsync {
            let beta = journal(try await answer(world, "alpha", "fleet"), "beta")
            return beta?["host"]?.text == "alpha" && beta?["takenFrom"]?.text == "beta"
                && beta?["severity"]?.text == "notice"
        }
        #expect(isTaken)
        let found = try await answer(world, "alpha", "fleet/find", "token=\(FleetWorld.token(1))")
        #expect(found["found"]?.array.first?["host"]?.text == "alpha" && found["silent"]?.array.isEmpty == true)
        #expect(try await answer(world, "alpha", "entry", "uid=\(uid)")["host"]?.text == "alpha")
    }
}
