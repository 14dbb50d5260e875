internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres
internal import HoldfastService

/// Orders to all journals of a fleet: the database keeps them, and each owner is asked to carry them out.
struct FleetOrdering {
    let register: FleetRegister

    /// Orders that were given.
    struct Given: Sendable {
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

    func give(_ subjects: [FleetOrder.Subject], pausing: Bool, reason: String = "") async throws -> Given {
        var given = Given()
        for (place, subject) in subjects.enumerated() {
            let (number, ended) = try await register.order(subject, pausing: pausing, reason: reason)
            given.numbers.append(number)
            if ended > 0 { given.endings.insert(place) }
        }
        return given
    }

    /// Takes orders back, by their places, that were about nothing.
    func withdraw(_ given: Given, _ places: [Int]) async throws {
        for place in places { try await register.withdrawOrder(given.numbers[place]) }
    }
}
