internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres

/// Carries the fleet's orders out at one journal: before its engine begins, and while it delivers. The journal notes how far it
/// has come, so that each order is carried out once.
actor JournalOrders {
    private let journal: any JournalService
    private let newest: Monitor<FleetOrders>
    private let news: AsyncStream<Void>
    private let onNews: AsyncStream<Void>.Continuation
    /// The last change that was asked for; each waits for the one before it.
    private var change: Task<Void, any Error>?

    init(_ journal: any JournalService, _ orders: FleetOrders) {
        self.journal = journal
        newest = Monitor(orders)
        // One that waits stands for all that came meanwhile.
        (news, onNews) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// From any thread. ``run(_:onTrouble:)`` carries them out.
    nonisolated func told(_ orders: FleetOrders) {
        newest.withLock { $0 = orders }
        onNews.yield()
    }

    /// The number of the newest order that is known here.
    nonisolated var lastNumber: Int64 { newest.withLock { $0.last?.number ?? 0 } }

    /// Carries out what comes, until it is cancelled. What fails is tried again.
    func run(_ desk: any FleetOrderDesk, onTrouble: (String?) -> Void) async {
        for await _ in news {
            while !Task.isCancelled {
                do {
                    try await carryOut(desk)
                    onTrouble(nil)
                    break
                } catch {
                    onTrouble("\(error)")
                    do { try await Task.sleep(for: .seconds(1)) } catch {}
                }
            }
        }
    }

    /// Carries out all orders that are known and were not carried out here.
    ///
    /// - Parameter routes: whose lanes are opened, each under the orders that are in force, if the journal has not got them.
    /// - Throws: ``JournalError``; what was carried out is carried out once more later.
    func carryOut(_ desk: any FleetOrderDesk, opening routes: [String] = []) async throws {
        let before = change
        let change = Task {
            _ = await before?.result
            try await self.perform(desk, routes)
        }
        self.change = change
        try await change.value
    }

    private func perform(_ desk: any FleetOrderDesk, _ routes: [String]) async throws {
        let orders = newest.withLock { $0 }
        let done = try journal.note(OrderMark.noteName).flatMap { OrderMark(note: $0) }
        guard orders.last != nil || done != nil else { return }
        let known = Set(try journal.status().lanes.map(\.key))
        let new = routes.flatMap(Self.lanes).filter { !known.contains($0) }
        guard done != orders.last || !new.isEmpty else { return }
        if !new.isEmpty { _ = try journal.openLanes(new) }
        let lanes = try journal.status().lanes.map { ($0.key, $0.state) }
        let paused = try journal.pausedTags().all.map { ($0.tag, $0.reason) }
        let plan = OrderPlan(
            orders, after: done, lanes: Dictionary(uniqueKeysWithValues: lanes),
            paused: Dictionary(uniqueKeysWithValues: paused)
        ) { !known.contains($0) }
        try await Self.perform(plan, desk)
        guard done != orders.last else { return }
        try await OwnThread.run("holdfast-orders") { [journal] () throws(JournalError) in
            // First, so that a journal which has carried pauses out can put them back where the database loses them.
            let kept = KeptPauses(orders).note
            if try journal.note(KeptPauses.noteName) != kept { try journal.setNote(KeptPauses.noteName, to: kept) }
            try journal.setNote(OrderMark.noteName, to: orders.last?.note)
        }
    }

    /// One that fails keeps none of the others from being carried out.
    ///
    /// - Throws: the first failure.
    private static func perform(_ plan: OrderPlan, _ desk: any FleetOrderDesk) async throws {
        var failure: (any Error)?
        func attempt(_ change: () async throws -> Void) async {
            do { try await change() } catch { failure = failure ?? error }
        }
        for (tag, change) in plan.tags {
            await attempt {
                switch change {
                case .pause(let reason): try await desk.pauseForFleet(tag: tag, reason: reason)
                case .resume: try await desk.resume(tag: tag)
                }
            }
        }
        for (lane, change) in plan.lanes.sorted(by: { $0.key.description < $1.key.description }) {
            await attempt {
                switch change {
                case .pause(let reason): try await desk.pause(lane, reason: reason)
                case .resume: try await desk.resume(lane)
                }
            }
        }
        if let failure { throw failure }
    }

    private static func lanes(of route: String) -> [LaneKey] {
        Urgency.allCases.flatMap { urgency in
            Guarantee.allCases.map { LaneKey(route: route, urgency: urgency, guarantee: $0) }
        }
    }
}

extension JournalOrders {
    /// Answers whoever has given an order.
    ///
    /// - Throws: ``ControlError`` when the order is not known here.
    nonisolated func answer(_ body: [UInt8], _ desk: any FleetOrderDesk) async throws -> [UInt8] {
        let asked = try Form.read(OrdersForm.self, body, "the request's body").number
        try await carryOut(desk)
        let number = lastNumber
        guard number >= asked else {
            throw ControlError(
                .busy, "order \(asked) of the fleet is not known to this host yet, which goes on looking")
        }
        return try Form.line(OrdersForm(number: number))
    }
}
