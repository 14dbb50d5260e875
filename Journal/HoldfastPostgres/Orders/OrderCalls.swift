internal import Holdfast
internal import HoldfastJournal
package import HoldfastPQ

/// The calls by which operators order something for the whole fleet, and hosts learn of it. Each is one round trip.
package struct OrderCalls: Sendable {
    /// As many orders are in force as can be.
    package static let tooManyState = "HF016"

    private let give: PQStatement
    private let read: PQStatement
    private let last: PQStatement
    private let restore: PQStatement
    private let withdraw: PQStatement

    package init(_ schema: SchemaName) {
        let name = schema.quoted
        give = PQStatement("SELECT number, ended FROM \(name).give_order($1, $2, $3, $4, $5)")
        read = PQStatement(
            """
            SELECT number, stamp::text, subject, target, is_pause, reason, ordered_by, ordered_at FROM \(name).read_orders()
            """)
        last = PQStatement("SELECT number, stamp::text FROM \(name).last_order()", preparedAs: "last_order")
        restore = PQStatement("SELECT \(name).restore_pause($1, $2, $3, $4, $5, $6)")
        withdraw = PQStatement("SELECT \(name).withdraw_order($1)")
    }

    /// Gives an order. The same order given again is a new one, and changes nothing else.
    ///
    /// - Parameter who: for people.
    /// - Returns: the order's number, and how many pauses it has replaced.
    package func give(
        _ subject: FleetOrder.Subject, pausing: Bool, reason: String, who: String, _ connection: PQConnection,
        by deadline: ContinuousClock.Instant
    ) throws(PQError) -> (number: Int64, ended: Int64) {
        var parameters = PQParameters()
        Self.append(subject, to: &parameters)
        parameters.append(pausing)
        parameters.append(reason)
        parameters.append(who)
        let row = try connection.run([PQStep(give, parameters)], by: deadline)[0].row(0)
        return (try row.int8(0), try row.int8(1))
    }

    /// Gives a pause again that the database has lost, as it was.
    ///
    /// - Returns: false where the database knows its order, or has such a pause.
    func restore(
        _ pause: KeptPauses.Pause, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> Bool {
        var parameters = PQParameters()
        parameters.append(pause.stamp)
        Self.append(pause.order.subject, to: &parameters)
        parameters.append(pause.order.reason)
        parameters.append(pause.order.by)
        parameters.append(pause.order.at.milliseconds)
        return try connection.run([PQStep(restore, parameters)], by: deadline)[0].row(0).bool(0)
    }

    /// Takes an order back that was about nothing.
    package func withdraw(
        _ number: Int64, _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) {
        var parameters = PQParameters()
        parameters.append(number)
        try connection.run([PQStep(withdraw, parameters)], by: deadline)
    }

    private static func append(_ subject: FleetOrder.Subject, to parameters: inout PQParameters) {
        let (word, target): (String, [UInt8]?) =
            switch subject {
            case .lanes(let pattern): ("lanes", pattern.map { Array($0.description.utf8) })
            case .tags(let tag): ("tags", tag)
            }
        parameters.append(word)
        if let target { parameters.append(target) } else { parameters.append(null: .bytea) }
    }

    package func read(
        _ connection: PQConnection, by deadline: ContinuousClock.Instant
    ) throws(PQError) -> FleetOrders {
        var orders = FleetOrders()
        for row in try connection.run([PQStep(read, reading: true)], by: deadline)[0].rows {
            let mark = OrderMark(number: try row.int8(0), stamp: try row.text(1))
            orders.add(mark, try Self.order(mark.number, row))
        }
        return orders
    }

    /// The newest order; nil before the first.
    func last(_ connection: PQConnection, by deadline: ContinuousClock.Instant) throws(PQError) -> OrderMark? {
        let rows = try connection.run([PQStep(last, reading: true)], by: deadline)[0].rows
        return try rows.first.map { row throws(PQError) in
            OrderMark(number: try row.int8(0), stamp: try row.text(1))
        }
    }

    /// - Returns: nil for one that was replaced, and for one about something that a later version may know.
    private static func order(_ number: Int64, _ row: PQRow) throws(PQError) -> FleetOrder? {
        guard try !row.isNull(2) else { return nil }
        let target = try row.isNull(3) ? nil : try row.bytes(3)
        let subject: FleetOrder.Subject
        switch try row.text(2) {
        case "lanes": subject = .lanes(target.flatMap { LanePattern(String(decoding: $0, as: UTF8.self)) })
        // No notification has a longer one.
        case "tags" where target.map { $0.count <= 256 } ?? true: subject = .tags(target)
        default: return nil
        }
        return FleetOrder(
            number: number, subject, isPause: try row.bool(4), reason: try row.text(5), by: try row.text(6),
            at: WallTime(milliseconds: try row.int8(7)))
    }
}
