/// A request that the orders up to a number are carried out, and the answer: up to where they are.
package struct OrdersForm: Codable, Sendable {
    /// Of the request, for a ``ControlTunnel``.
    package static let path = "/v1/orders"

    package var number: Int64

    package init(number: Int64) { self.number = number }
}
