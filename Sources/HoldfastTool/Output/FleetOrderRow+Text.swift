internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

extension FleetOrderRow {
    /// Those that are in force.
    ///
    /// - Parameter isWanted: by what an order is about.
    static func all(_ register: FleetRegister, _ isWanted: (FleetOrder.Subject) -> Bool = { _ in true }) async throws
        -> [FleetOrderRow]
    {
        try await register.orders().inForce.filter { isWanted($0.subject) }.map { FleetOrderRow($0) }
    }

    /// One line each.
    static func print(_ rows: [FleetOrderRow], json: Bool) throws {
        for row in rows { Console.standard.print(json ? try JSONOutput.line(row) : row.text) }
    }

    private var text: String {
        let what =
            switch order.subject {
            case .lanes(let pattern?): "lanes \(pattern.description.printable(maximumLength: 320))"
            case .lanes(nil): "all lanes"
            case .tags(let tag?): "tag \(String(decoding: tag, as: UTF8.self).printable(maximumLength: 256))"
            case .tags(nil): "all tags"
            }
        let reason = order.reason.isEmpty ? "" : ", because: \(order.reason.printable(maximumLength: 512))"
        return "order \(order.number) of the fleet: \(what) \(state) since \(ExactTime(order.at).text), "
            + "by \(order.by.printable(maximumLength: 256))\(reason)"
    }
}

extension FleetOrder.Subject {
    var isLanes: Bool { if case .lanes = self { true } else { false } }
}
