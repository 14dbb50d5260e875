package import Holdfast
package import HoldfastControl
package import HoldfastJournal
internal import HoldfastPostgres

/// Orders to all journals of a fleet: the database keeps them, and each owner is asked to carry them out.
package struct FleetOrdering: Sendable {
    package let asking: FleetAsking
    /// Gives the orders, for people.
    package let who: String

    package init(_ asking: FleetAsking, who: String) { (self.asking, self.who) = (asking, who) }

    /// Orders that were given.
    private struct Given: Sendable {
        /// Of each order, in their places.
        var numbers: [Int64] = []
        /// Of the newest.
        var number: Int64 { numbers.last ?? 0 }
        /// Which of them, by their places, have ended a pause of the fleet.
        var endings: Set<Int> = []

        /// Has the owner carry the orders out.
        ///
        /// - Returns: false for an owner of an earlier version, which has to be told what to do.
        func carryOut(_ desk: RemoteDesk) async throws -> Bool {
            do {
                _ = try await desk.ask(OrdersForm.path, OrdersForm(number: number), as: OrdersForm.self)
                return true
            } catch let error as ControlError where error.code == .unknownRequest {
                return false
            }
        }
    }

    /// What became of orders. `Value` is what each journal has told.
    package struct Done<Value: Sendable, Subject: Sendable>: Sendable {
        /// Of the newest order.
        package let number: Int64
        package let answers: FleetAsking.Answers<Value>
        /// Of what was named, that which no journal has that answered. The orders about it were taken back, if all answered.
        package let slips: [Subject]
    }

    // MARK: Lanes

    /// - Parameters:
    ///   - patterns: nil for all lanes.
    ///   - perform: at an owner that does not know orders to the fleet.
    ///   - onLane: told of each lane that is meant, and its journal, as soon as the owner has answered.
    /// - Returns: the lanes of each journal.
    package func order(
        lanes patterns: [LanePattern]?, pausing: Bool, reason: String,
        perform: @escaping @Sendable (any OperatorDesk, LaneKey) async throws -> Void,
        onLane: @escaping @Sendable (_ lane: LaneChangeForm, _ place: FleetPlaceForm) throws -> Void = { _, _ in }
    ) async throws -> Done<[LaneKey], LanePattern> {
        // First of all, so that whoever takes a journal from now on knows of it.
        let given = try await give(
            patterns?.map { .lanes($0) } ?? [.lanes(nil)], pausing: pausing, reason: reason)
        let answers = try await asking.each { desk, place in
            let isCarriedOut = try await given.carryOut(desk)
            let status = try await desk.status()
            for lane in status.lanes where patterns?.contains(where: { $0.matches(lane.key) }) ?? true {
                if !isCarriedOut { try await perform(desk, lane.key) }
                let state = isCarriedOut ? LaneRow(lane, status).lane.state : pausing ? "paused" : "running"
                try onLane(LaneChangeForm(lane.key, state, reason: reason), place)
            }
            return status.lanes.map(\.key)
        }
        let known = answers.answers.flatMap(\.value)
        let slips = (patterns ?? []).enumerated().filter { place, pattern in
            !known.isEmpty && !given.endings.contains(place) && !known.contains(where: pattern.matches)
        }
        // No journal has such lanes: it is a slip, which must not wait for a route of that name.
        if answers.silent.isEmpty { try await withdraw(given, slips.map(\.offset)) }
        return Done(number: given.number, answers: answers, slips: slips.map(\.element))
    }

    // MARK: Tags

    /// - Parameters:
    ///   - perform: at an owner that does not know orders to the fleet.
    ///   - onDone: told of each journal that has carried it out, as soon as its owner has answered.
    package func pause(
        tags: [[UInt8]], reason: String,
        onDone: @escaping @Sendable (_ place: FleetPlaceForm) throws -> Void = { _ in }
    ) async throws -> Done<Void, [UInt8]> {
        // First of all, so that whoever takes a journal from now on knows of it.
        let given = try await give(tags.map { .tags($0) }, pausing: true, reason: reason)
        let answers = try await asking.each { desk, place in
            if try await !given.carryOut(desk) {
                for tag in tags { try await desk.pause(tag: tag, reason: reason) }
            }
            try onDone(place)
        }
        return Done(number: given.number, answers: answers, slips: [])
    }

    /// A tag may be paused in some of the journals.
    ///
    /// - Parameters:
    ///   - tags: nil for all that are paused.
    ///   - onTag: told of each tag that was paused in a journal, as soon as it is resumed there.
    package func resume(
        tags: [[UInt8]]?,
        onTag: @escaping @Sendable (_ tag: [UInt8], _ place: FleetPlaceForm) throws -> Void = { _, _ in }
    ) async throws -> Done<Void, [UInt8]> {
        let before = try await asking.each { desk, place in
            let paused = try await desk.status().pausedTags.map(\.tag)
            return [place.journal: tags?.filter(paused.contains) ?? paused]
        }
        let meant = before.answers.map(\.value).reduce(into: [:]) { $0.merge($1) { $1 } }
        let given = try await give(tags?.map { .tags($0) } ?? [.tags(nil)], pausing: false, reason: "")
        let answers = try await asking.each { desk, place in
            let isCarriedOut = try await given.carryOut(desk)
            for tag in meant[place.journal] ?? [] {
                if !isCarriedOut { try await desk.resume(tag: tag) }
                try onTag(tag, place)
            }
        }
        let resumed = meant.values.flatMap(\.self)
        let slips = (tags ?? []).enumerated().filter { place, tag in
            !given.endings.contains(place) && !resumed.contains(tag)
        }
        // Of a journal that did not answer, nobody knows what was paused there: then the order is kept.
        guard before.silent.isEmpty, answers.silent.isEmpty else {
            return Done(number: given.number, answers: answers, slips: [])
        }
        try await withdraw(given, slips.map(\.offset))
        return Done(number: given.number, answers: answers, slips: slips.map(\.element))
    }

    // MARK: The database

    private func give(_ subjects: [FleetOrder.Subject], pausing: Bool, reason: String) async throws -> Given {
        var given = Given()
        for (place, subject) in subjects.enumerated() {
            let (number, ended) = try await asking.register.order(
                subject, pausing: pausing, reason: reason, who: who)
            given.numbers.append(number)
            if ended > 0 { given.endings.insert(place) }
        }
        return given
    }

    /// Takes orders back, by their places, that were about nothing.
    private func withdraw(_ given: Given, _ places: [Int]) async throws {
        for place in places { try await asking.register.withdrawOrder(given.numbers[place]) }
    }
}
