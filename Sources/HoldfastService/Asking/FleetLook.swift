package import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres

/// The fleet for the operators' page of one of its hosts. Which journals there are is known anyway; owners are asked only while
/// somebody looks, in one round for all who do.
package final class FleetLook: Sendable {
    /// Between two rounds.
    private static let interval = Duration.seconds(3)
    /// How long an owner may take for an answer.
    private static let ownerTimeout = Duration.seconds(2)
    /// How long owners are begun to be asked, in one round or search.
    private static let roundLimit = Duration.seconds(4)
    /// The longest that somebody who looks waits for a round. It goes on.
    private static let patience = Duration.seconds(5)
    /// Owners that are asked at a time, each over a session of its own with the database.
    private static let width = 4

    private struct State {
        var asked = FleetStanding.Asked()
        var round: Task<Void, Never>?
        var begun: ContinuousClock.Instant?
        var rounds = 0
    }

    package let register: FleetRegister
    /// The number of the journal that this host accepts into.
    private let own: Int32
    private let sightings: @Sendable () -> FleetSightings
    private let state = Monitor(State())

    /// - Parameter sightings: what this host's watch has seen last.
    package init(
        _ register: FleetRegister, own: Int32, sightings: @escaping @Sendable () -> FleetSightings
    ) {
        (self.register, self.own, self.sightings) = (register, own, sightings)
    }

    /// The name of this host in the fleet.
    package var host: String { register.host }

    /// How often owners were asked.
    package var rounds: Int { state.withLock(\.rounds) }

    /// How the fleet stands, with what owners have told within the last seconds.
    package func standing() async -> FleetStanding {
        if let round = round() { await Self.wait(for: round, atMost: Self.patience) }
        return FleetStanding(host: host, own: own, sightings(), state.withLock(\.asked))
    }

    /// What was changed is asked for at once.
    package func forget() { state.withLock { $0.begun = nil } }

    /// Asks owners of journals, as many as can be within a request of a page. Those that are known not to answer are told as such.
    /// The database lists the journals: a host may have joined since the last look.
    package var asking: FleetAsking { asking(sightings()) }

    private func asking(_ seen: FleetSightings) -> FleetAsking {
        var asking = FleetAsking(register: register, timeout: Self.ownerTimeout)
        asking.width = Self.width
        asking.deadline = .now + Self.roundLimit
        asking.known = seen.unanswering
        return asking
    }

    /// The number of the journal that has given out a UID; `nil` for one that no database has.
    package func number(of uid: UID) -> Int32? {
        let number = ListedJournal.number(of: uid)
        return number > 0 ? number : nil
    }

    /// The same where that is not this host's own.
    package func elsewhere(_ uid: UID) -> Int32? { number(of: uid).flatMap { $0 == own ? nil : $0 } }

    /// Why nobody can be asked for a journal; `nil` where somebody can.
    package func words(forUnasked number: Int32) -> String? {
        guard let journal = sightings().journals.first(where: { $0.id == number }) else {
            return "the fleet has no journal with the number \(number), to which it belongs"
        }
        guard journal.sighting.isFree, !journal.isLeft else { return nil }
        return
            "it belongs to journal \(journal.name), which was delivered to its end and closed: what has ended in it is known "
            + "only to \(journal.host ?? "its last host"), as long as that keeps its copy"
    }

    // MARK: Rounds

    /// - Returns: the round that is under way; nil where the last one is new enough.
    private func round() -> Task<Void, Never>? {
        state.withLock { state in
            if let round = state.round { return round }
            if let begun = state.begun, .now - begun < Self.interval { return nil }
            state.begun = .now
            state.rounds += 1
            // Several wait for it, each for as long as it likes.
            let round = Task { await self.ask() }
            state.round = round
            return round
        }
    }

    private func ask() async {
        let seen = sightings()
        var asking = asking(seen)
        asking.journals = seen.journals
        async let orders = Self.standing(register)
        let answers: Result<FleetAsking.Answers<DeskStatus>, any Error>
        do { answers = .success(try await asking.each { desk, _ in try await desk.status() }) } catch {
            answers = .failure(error)
        }
        let found = await orders
        let now = EngineClock.system.wall()
        let numbers = Dictionary(seen.journals.map { ($0.name, $0.id) }) { first, _ in first }
        state.withLock { state in
            state.round = nil
            state.asked.at = now
            state.asked.take(answers, numbers, at: now)
            state.asked.take(found)
        }
    }

    private static func standing(
        _ register: FleetRegister
    ) async -> Result<(orders: FleetOrders, releases: [Int32: Int]), JournalError> {
        do throws(JournalError) { return .success(try await register.standing(timeout: roundLimit)) } catch {
            return .failure(error)
        }
    }

    private static func wait(for round: Task<Void, Never>, atMost limit: Duration) async {
        let (ended, onEnd) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let waiting = Task {
            await round.value
            onEnd.finish()
        }
        let clock = Task {
            // Cancelled where the round is over before.
            do { try await Task.sleep(for: limit) } catch {}
            onEnd.finish()
        }
        for await _ in ended {}
        waiting.cancel()
        clock.cancel()
    }
}

extension FleetStanding.Asked {
    fileprivate mutating func take(
        _ answers: Result<FleetAsking.Answers<DeskStatus>, any Error>, _ numbers: [String: Int32], at now: WallTime
    ) {
        failures = [:]
        switch answers {
        case .failure(let error): trouble = "\(error)"
        case .success(let answers):
            for answer in answers.answers {
                guard let number = numbers[answer.place.journal] else { continue }
                told[number] = FleetStanding.Told(answer.value, at: now)
            }
            for silence in answers.silent {
                if let number = numbers[silence.place.journal] { failures[number] = silence.why }
            }
            // Of journals that are no more, nothing is kept.
            let all = Set(numbers.values)
            told = told.filter { all.contains($0.key) }
        }
    }

    fileprivate mutating func take(_ found: Result<(orders: FleetOrders, releases: [Int32: Int]), JournalError>) {
        switch found {
        case .success(let found):
            (orders, releases) = (found.orders.inForce, found.releases)
            trouble = nil
        case .failure(let error): trouble = error.message
        }
    }
}
