import Holdfast
import HoldfastJournal
import HoldfastPostgres
import HoldfastTesting
import Scratch
import Testing

@testable import HoldfastService

@Suite("The fleet's orders at one journal")
struct JournalOrdersTests {
    private let journal = InMemoryJournal()
    private var desk: JournalDesk { JournalDesk(journal: journal) }

    private func orders(_ all: (FleetOrder.Subject, Bool)..., line: String = "") -> FleetOrders {
        var orders = FleetOrders()
        for (place, (subject, isPause)) in all.enumerated() {
            let number = Int64(place + 1)
            orders.add(
                OrderMark(number: number, stamp: "\(number)\(line)"),
                FleetOrder(number: number, subject, isPause: isPause, reason: isPause ? "r" : ""))
        }
        return orders
    }

    private func paused() throws -> [String] {
        try journal.status().lanes.filter { $0.state.standsStillBecause != nil }.map(\.key.description).sorted()
    }

    private var done: Int64? {
        get throws { try journal.note(OrderMark.noteName).flatMap { OrderMark(note: $0) }?.number }
    }

    @Test("Lanes are opened under the orders in force, at the first start and with a route that comes later")
    func opening() async throws {
        let carrying = JournalOrders(journal, orders((.lanes(LanePattern("a/considerate")), true), (.tags([7]), true)))
        try await carrying.carryOut(desk, opening: ["a"])
        #expect(try paused() == ["a/considerate/at-least-once", "a/considerate/at-most-once"])
        #expect(try journal.pausedTags().all.map(\.tag) == [[7]])
        #expect(try done == 2)
        try await desk.resumeAllTags()
        try await desk.resume(LaneKey(route: "a", urgency: .considerate, guarantee: .atMostOnce))
        carrying.told(
            orders((.lanes(LanePattern("a/considerate")), true), (.tags([7]), true), (.lanes(LanePattern("b")), true)))
        try await carrying.carryOut(desk, opening: ["a"])
        try await carrying.carryOut(desk, opening: ["a", "b"])
        #expect(try paused().count == 5)
        #expect(try journal.pausedTags().all.isEmpty)
        #expect(try done == 3)
    }

    @Test("Without orders nothing is written, and in a database that lost them what they paused stays so")
    func lost() async throws {
        let carrying = JournalOrders(journal, FleetOrders())
        try await carrying.carryOut(desk, opening: ["a"])
        #expect(try journal.status().lanes.isEmpty)
        carrying.told(orders((.lanes(nil), true), (.tags([1]), true)))
        try await carrying.carryOut(desk, opening: ["a"])
        carrying.told(FleetOrders())
        try await carrying.carryOut(desk)
        #expect(try paused().count == 4 && done == nil)
        // With the numbers of before, these are new nevertheless.
        carrying.told(orders((.lanes(LanePattern("a")), false), (.tags([2]), true), line: "other"))
        try await carrying.carryOut(desk)
        #expect(try paused().isEmpty)
        #expect(try journal.pausedTags().all.map(\.tag) == [[1], [2]])
    }

    @Test("A tag that is paused for the fleet is paused in a journal whose own operators have paused as many as can be")
    func room() async throws {
        for number in 0..<TagPauses.limit { try await desk.pause(tag: [1, UInt8(number)], reason: "") }
        let engine = try PushEngine(
            journal: journal, routes: [Route(name: "a", connector: InMemoryConnector())])
        let running = Task { try await engine.run() }
        for (desk, tag) in [(desk as any FleetOrderDesk, UInt8(2)), (engine.fleetOrderDesk, 3)] {
            let carrying = JournalOrders(journal, orders((.tags([tag]), true), line: "\(tag)"))
            try await carrying.carryOut(desk)
            #expect(try journal.pausedTags().pause(of: [tag]) != nil && done == 1)
            let error = await #expect(throws: JournalError.self) { try await desk.pause(tag: [9], reason: "") }
            #expect(error?.code == .invalidEntry)
        }
        running.cancel()
        _ = try? await running.value
    }

    @Test("An order that can't be carried out holds up no other, is not taken for carried out, and is tried again")
    func failing() async throws {
        let tooLong: FleetOrder.Subject = .tags(Array(repeating: 1, count: 300))
        let rest: [(FleetOrder.Subject, Bool)] = [(.tags([2]), true), (.lanes(LanePattern("a/considerate")), true)]
        let carrying = JournalOrders(journal, orders((tooLong, true), rest[0], rest[1]))
        let error = await #expect(throws: JournalError.self) {
            try await carrying.carryOut(desk, opening: ["a"])
        }
        #expect(error?.code == .invalidEntry)
        #expect(try done == nil && paused().count == 2 && journal.pausedTags().pause(of: [2]) != nil)
        let told = Monitor<[Bool]>([])
        let running = Task { await carrying.run(desk) { trouble in told.withLock { $0.append(trouble == nil) } } }
        carrying.told(orders(rest[0], rest[1]))
        #expect(await waitUntil { told.withLock { $0 } == [true] })
        #expect(try done == 2)
        running.cancel()
        await running.value
    }

    @Test("The journal keeps the pauses of the fleet, by which they can be put back")
    func kept() async throws {
        let carrying = JournalOrders(journal, orders((.tags([7]), true), (.lanes(LanePattern("b")), false)))
        try await carrying.carryOut(desk, opening: ["a"])
        let kept = try #require(try journal.note(KeptPauses.noteName).flatMap { KeptPauses(note: $0) })
        #expect(kept.all.map(\.stamp) == ["1"] && kept.all.map(\.order.subject) == [.tags([7])])
        carrying.told(orders((.tags(nil), false)))
        try await carrying.carryOut(desk)
        #expect(try journal.note(KeptPauses.noteName) == nil)
    }
}
