/// The orders that count, as of one look at the database.
package struct FleetOrders: Hashable, Sendable {
    /// By their numbers. Of those that are about the same lane or tag, the last decides.
    package private(set) var all: [FleetOrder] = []
    /// Of all orders that are known, also of those that later ones have replaced.
    private var stamps: [Int64: String] = [:]

    package init() {}

    /// - Parameter order: nil for one that a later one has replaced.
    package mutating func add(_ mark: OrderMark, _ order: FleetOrder?) {
        stamps[mark.number] = mark.stamp
        if let order { all.append(order) }
        if last.map({ $0.number < mark.number }) ?? true { last = mark }
    }

    /// The newest order; nil before the first.
    package private(set) var last: OrderMark?

    /// Whether the order was given in this database, before the newest one.
    func has(_ mark: OrderMark) -> Bool { stamps[mark.number] == mark.stamp }

    /// Whether the database went back to before an order that was given in it. One of more than ``kept`` orders ago it may have
    /// forgotten.
    func wentBack(before mark: OrderMark) -> Bool { !has(mark) && mark.number > (last?.number ?? 0) - Self.kept }

    /// So many orders are known that later ones have replaced.
    private static let kept: Int64 = 1000

    func stamp(of number: Int64) -> String? { stamps[number] }
    func knows(stamp: String) -> Bool { stamps.values.contains(stamp) }

    /// Pauses, and resumptions of a part of what an earlier one pauses.
    package var inForce: [FleetOrder] {
        all.filter { order in
            order.isPause || all.contains { $0.isPause && $0.number < order.number && order.isPart(of: $0) }
        }
    }
}
