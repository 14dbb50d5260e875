package import Holdfast

/// What a journal has to change so that the fleet's orders are carried out there.
///
/// A journal carries each order out once. So an order that its operator gave to it alone stays, until the fleet gets a newer one.
/// Where the database went back in time, or another one took its place, what the journal has carried out is not known there: then
/// all pauses are carried out, and nothing is resumed.
package struct OrderPlan: Equatable, Sendable {
    package enum Change: Hashable, Sendable {
        case pause(reason: String)
        case resume
    }

    package private(set) var lanes: [LaneKey: Change] = [:]
    package private(set) var tags: [[UInt8]: Change] = [:]

    /// - Parameters:
    ///   - done: up to where the journal has carried orders out; nil for nothing.
    ///   - lanes: of the journal.
    ///   - isNew: whether the journal did not have the lane when it carried orders out.
    ///   - paused: the tags that are paused, with their reasons.
    package init(
        _ orders: FleetOrders, after done: OrderMark?, lanes: [LaneKey: LaneState], paused: [[UInt8]: String],
        isNew: (LaneKey) -> Bool
    ) {
        let isLost = done.map { !orders.has($0) } ?? false
        let news = isLost ? orders.all : orders.all.filter { $0.number > done?.number ?? 0 }
        for (lane, state) in lanes {
            let order = (isNew(lane) ? orders.all : news).last { $0.concerns(lane) }
            guard let order, order.isPause || !isLost else { continue }
            if !order.isHeeded(by: state) { self.lanes[lane] = order.change }
        }
        let named = news.compactMap { if case .tags(let tag?) = $0.subject { tag } else { nil } }
        for tag in Set(named).union(paused.keys) {
            guard let order = news.last(where: { $0.concerns(tag: tag) }) else { continue }
            if order.isPause, paused[tag] != order.reason { tags[tag] = order.change }
            if !order.isPause, !isLost, paused[tag] != nil { tags[tag] = .resume }
        }
    }
}

extension FleetOrder {
    fileprivate var change: OrderPlan.Change { isPause ? .pause(reason: reason) : .resume }

    /// Whether nothing has to be changed.
    fileprivate func isHeeded(by state: LaneState) -> Bool {
        switch state {
        case .running: !isPause
        case .paused(let reason, _): isPause && reason == self.reason
        case .stopped: false
        }
    }
}
