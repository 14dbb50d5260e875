internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
package import HoldfastPostgres

/// An order to the whole fleet that is in force, as it is listed.
package struct FleetOrderRow: Encodable, Sendable {
    package let order: FleetOrder

    package init(_ order: FleetOrder) { self.order = order }

    private enum CodingKeys: String, CodingKey { case order, lanes, state, reason, by, since }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(order.number, forKey: .order)
        switch order.subject {
        case .lanes(let pattern): try values.encode(pattern?.description ?? "*", forKey: .lanes)
        case .tags(let tag): try TagChangeForm(tag, state).encode(to: encoder)
        }
        try values.encode(state, forKey: .state)
        if !order.reason.isEmpty { try values.encode(order.reason, forKey: .reason) }
        try values.encode(order.by, forKey: .by)
        try values.encode(ExactTime(order.at), forKey: .since)
    }

    package var state: String { order.isPause ? "paused" : "running" }
}
