import Holdfast
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import TestPostgres
import Testing

@Suite("Orders to the whole fleet, in the database", .enabled(if: PostgresProgram.isWanted))
struct FleetOrdersTests {
    private let schema: OwnSchema
    private let calls: OrderCalls

    init() throws {
        schema = try OwnSchema()
        calls = OrderCalls(schema.name)
    }

    @discardableResult
    private func give(
        _ subject: FleetOrder.Subject, pausing: Bool = true, reason: String = "", _ connection: PQConnection
    ) throws -> (number: Int64, ended: Int64) {
        try calls.give(subject, pausing: pausing, reason: reason, who: "me", connection, by: soon())
    }

    private func inForce(_ connection: PQConnection) throws -> [String] {
        try calls.read(connection, by: soon()).inForce.map { order in
            let name =
                switch order.subject {
                case .lanes(let pattern): pattern?.description ?? "*"
                case .tags(let tag): "#" + String(decoding: tag ?? [], as: UTF8.self)
                }
            return (order.isPause ? "-" : "+") + name
        }
    }

    @Test("An order replaces all earlier ones that mean nothing beyond it, and of others the later decides")
    func replaces() throws {
        let connection = try schema.asService()
        #expect(try calls.read(connection, by: soon()) == FleetOrders())
        #expect(try give(.lanes(LanePattern("a/immediate")), reason: "x", connection) == (1, 0))
        #expect(try give(.lanes(LanePattern("ab")), connection) == (2, 0))
        #expect(try give(.tags([1, 2]), connection) == (3, 0))
        #expect(try give(.lanes(LanePattern("a")), connection) == (4, 1))
        #expect(try give(.lanes(LanePattern("a/considerate")), pausing: false, connection) == (5, 0))
        #expect(try inForce(connection) == ["-ab", "-#\u{1}\u{2}", "-a", "+a/considerate"])
        let order = try #require(try calls.read(connection, by: soon()).all.first { $0.number == 4 })
        #expect(order.by == "me, role \(schema.service)" && order.at.seconds > 1_700_000_000)
        // Given again, it is newer, and its exceptions are gone.
        #expect(try give(.lanes(LanePattern("a")), connection) == (6, 1))
        #expect(try inForce(connection) == ["-ab", "-#\u{1}\u{2}", "-a"])
        #expect(try give(.lanes(nil), pausing: false, connection) == (7, 2))
        #expect(try give(.tags(nil), pausing: false, connection) == (8, 1))
        #expect(try inForce(connection).isEmpty)
        #expect(try calls.read(connection, by: soon()).last?.number == 8)
    }

    @Test("Of many who order at once, no order is lost")
    func atOnce() throws {
        let (schema, calls) = (schema, calls)
        let all = (0..<6).map { client in
            Background {
                let connection = try schema.asService()
                for turn in 0..<10 {
                    _ = try calls.give(
                        .tags([UInt8(client), UInt8(turn)]), pausing: true, reason: "", who: "", connection, by: soon())
                }
            }
        }
        for one in all { try one.value() }
        let orders = try calls.read(schema.asService(), by: soon())
        #expect(orders.all.map(\.number) == Array(1...60))
        #expect(Set(orders.all.map(\.subject)).count == 60)
    }

    @Test("The orders in force are bounded, and what was replaced or resumed is forgotten after a thousand orders")
    func bounded() throws {
        let connection = try schema.asService()
        for number in 0..<64 { try give(.lanes(LanePattern("r\(number)")), connection) }
        let error = #expect(throws: PQError.self) { try give(.lanes(LanePattern("one more")), connection) }
        #expect(error?.sqlState == OrderCalls.tooManyState)
        #expect(throws: PQError.self) { try give(.lanes(LanePattern("r1/immediate")), pausing: false, connection) }
        #expect(try give(.lanes(LanePattern("elsewhere")), pausing: false, connection).ended == 0)
        #expect(try give(.lanes(LanePattern("r1")), connection).ended == 1)
        for bad: FleetOrder.Subject in [.tags(nil), .tags([]), .tags(Array(repeating: 1, count: 513))] {
            #expect(throws: PQError.self) { try give(bad, connection) }
        }
        try schema.psql(
            "INSERT INTO S.orders (number, is_pause, reason, ordered_by) SELECT 1000 + g, false, '', '' FROM generate_series(1, 100) g",
            "INSERT INTO S.orders (number, subject, target, is_pause, reason, ordered_by) VALUES (2101, 'tags', 'a', true, '', '')"
        )
        #expect(try give(.tags([7]), connection).number == 2102)
        #expect(try schema.psql("SELECT count(*) FROM S.orders") == "66")
        #expect(try inForce(connection).count == 66)
    }

    @Test("A tag that is longer than any notification's is passed over, since a journal could not pause it")
    func tooLong() throws {
        let connection = try schema.asService()
        try give(.tags(Array(repeating: 1, count: 257)), connection)
        try give(.tags(Array(repeating: 1, count: 256)), connection)
        #expect(try calls.read(connection, by: soon()).all.map(\.number) == [2])
    }

    @Test("An order that is withdrawn counts no more, and the one after it has a number of its own")
    func withdrawn() throws {
        let connection = try schema.asService()
        try give(.lanes(nil), connection)
        try give(.lanes(LanePattern("slip")), pausing: false, connection)
        #expect(try inForce(connection) == ["-*", "+slip"])
        try calls.withdraw(2, connection, by: soon())
        #expect(try inForce(connection) == ["-*"])
        #expect(try give(.tags([1]), connection).number == 3)
    }

    @Test("Operators may order and a submitter may not")
    func rights() throws {
        let connection = try schema.asSubmitter()
        let name = schema.name
        for call in [
            "read_orders()", "last_order()", "give_order('lanes', NULL, true, '', '')", "withdraw_order(1)",
            "restore_pause('', 'lanes', NULL, '', '', 0)",
        ] {
            #expect(connection.state("SELECT \(name).\(call)") == "42501")
        }
        #expect(try schema.asService().state("SELECT * FROM \(name).orders") == "42501")
    }
}

@Suite("What a journal changes for the fleet's orders")
struct OrderPlanTests {
    private static let (running, paused) = (lane("a"), lane("b"))
    private static let states: [LaneKey: LaneState] = [
        running: .running, paused: .paused(reason: "mine", since: WallTime(milliseconds: 1)),
    ]

    private static func lane(_ route: String) -> LaneKey {
        LaneKey(route: route, urgency: .immediate, guarantee: .atLeastOnce)
    }

    /// With stamps that say which line a number is of.
    private func orders(_ all: [FleetOrder?], line: String = "x") -> FleetOrders {
        var orders = FleetOrders()
        for (place, order) in all.enumerated() {
            var order = order
            order?.number = Int64(place + 1)
            orders.add(mark(place + 1, line), order)
        }
        return orders
    }

    private func mark(_ number: Int, _ line: String = "x") -> OrderMark {
        OrderMark(number: Int64(number), stamp: "\(line)\(number)")
    }

    private func plan(
        _ orders: FleetOrders, after done: OrderMark?, paused: [[UInt8]: String] = [:], new: Set<LaneKey> = []
    ) -> OrderPlan {
        OrderPlan(orders, after: done, lanes: Self.states, paused: paused) { new.contains($0) }
    }

    private func pause(_ route: String?, _ reason: String = "") -> FleetOrder {
        FleetOrder(number: 0, .lanes(route.flatMap { LanePattern($0) }), isPause: true, reason: reason)
    }

    private func resume(_ route: String?) -> FleetOrder {
        FleetOrder(number: 0, .lanes(route.flatMap { LanePattern($0) }), isPause: false)
    }

    @Test("A journal carries each order out once: what was ordered there since stays")
    func once() {
        let orders = orders([pause("a", "x"), resume("b")])
        #expect(plan(orders, after: nil).lanes == [Self.running: .pause(reason: "x"), Self.paused: .resume])
        #expect(plan(orders, after: mark(1)).lanes == [Self.paused: .resume])
        #expect(plan(orders, after: mark(2)).lanes.isEmpty)
    }

    @Test("Of two orders about a lane the last decides, and a new lane heeds all that are in force")
    func last() {
        let both = orders([pause(nil, "x"), resume("a"), nil])
        #expect(plan(both, after: nil).lanes == [Self.paused: .pause(reason: "x")])
        let paused = orders([pause("a", "x"), nil])
        #expect(plan(paused, after: mark(2)).lanes.isEmpty)
        #expect(plan(paused, after: mark(2), new: [Self.running]).lanes == [Self.running: .pause(reason: "x")])
    }

    @Test("Where the database went back, all pauses are carried out, and nothing is resumed")
    func wentBack() {
        let orders = orders([pause("a", "x"), resume("b"), FleetOrder(number: 0, .tags(nil), isPause: false)])
        for done in [mark(9), mark(2, "other")] {
            let plan = plan(orders, after: done, paused: [[1]: ""])
            #expect(plan.lanes == [Self.running: .pause(reason: "x")] && plan.tags.isEmpty)
        }
    }

    @Test("Tags are paused and resumed by name, and all that are paused at once")
    func tags() {
        func order(_ tag: [UInt8]?, _ isPause: Bool) -> FleetOrder {
            FleetOrder(number: 0, .tags(tag), isPause: isPause, reason: isPause ? "r" : "")
        }
        let orders = orders([order([1], true), order(nil, false), order([2], true), order([3], false)])
        let plan = plan(orders, after: nil, paused: [[1]: "", [3]: "", [4]: "", [2]: "r"])
        #expect(plan.tags == [[1]: .resume, [3]: .resume, [4]: .resume])
    }

    @Test("The note of a journal is read as it was written, and other bytes are none")
    func note() {
        let mark = OrderMark(number: 258, stamp: "s")
        #expect(mark.note == [1, 2, 1, 0, 0, 0, 0, 0, 0, 115])
        #expect(OrderMark(note: mark.note) == mark)
        #expect(OrderMark(note: []) == nil && OrderMark(note: [2] + mark.note.dropFirst()) == nil)
    }

    @Test("The pauses that a journal keeps are read as they were written, and other bytes are none")
    func kept() throws {
        var orders = FleetOrders()
        let since = WallTime(milliseconds: 258)
        orders.add(
            OrderMark(number: 1, stamp: "s"),
            FleetOrder(number: 1, .tags([7, 8]), isPause: true, reason: "r", by: "me", at: since))
        orders.add(OrderMark(number: 3, stamp: "u"), resume("a"))
        orders.add(OrderMark(number: 4, stamp: "v"), nil)
        var all = pause("b/c")
        all.number = 5
        orders.add(OrderMark(number: 5, stamp: "w"), all)
        let kept = KeptPauses(orders)
        let note = try #require(kept.note)
        #expect(
            Array(note.prefix(24)) == [
                1, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 1, 0, 2, 0, 115, 7, 8, 114, 109, 101,
            ])
        let read = try #require(KeptPauses(note: note))
        #expect(read.all.map(\.order.subject) == [.tags([7, 8]), .lanes(LanePattern("b/c"))])
        #expect(read.all.map(\.stamp) == ["s", "w"] && read.all[0].order.at == since && read.note == note)
        for length in 0..<note.count { #expect(KeptPauses(note: Array(note.prefix(length))) == nil) }
        #expect(KeptPauses(note: [2] + note.dropFirst()) == nil && KeptPauses(note: note + [0]) == nil)
        #expect(KeptPauses(FleetOrders()).note == nil)
    }
}
