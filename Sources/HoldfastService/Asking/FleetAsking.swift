internal import Holdfast
package import HoldfastControl
package import HoldfastPostgres

/// Asks the owners of all journals of a fleet, some at a time. One that does not answer holds up nobody.
package struct FleetAsking: Sendable {
    package let register: FleetRegister
    /// How long an owner may take for each answer.
    package let timeout: Duration
    /// Owners that are asked at a time, each over a session of its own with the database.
    package var width = 8
    /// When no further owner is asked; nil for never.
    package var deadline: ContinuousClock.Instant?
    /// The journals that there are; nil to have the database list them.
    package var journals: [ListedJournal]?
    /// Why journals are not asked, by their numbers: their owners are known not to answer.
    package var known: [Int32: String] = [:]
    /// Told of how many owners something is known, of how many.
    package var onProgress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    /// The message of an error that keeps an owner from answering.
    package var explain: @Sendable (any Error) -> String = { FleetAsking.words(for: $0) }

    package init(register: FleetRegister, timeout: Duration) { (self.register, self.timeout) = (register, timeout) }

    /// A journal, and the owner's answer.
    package struct Answer<Value: Sendable>: Sendable {
        package let place: FleetPlaceForm
        package let value: Value
    }

    /// A journal of which nothing is known, and why.
    package struct Silence: Sendable {
        package let place: FleetPlaceForm
        package let reason: FleetSilence

        /// For people.
        package var why: String { reason.words(order: nil) }
    }

    /// What came back, by the numbers of the journals.
    package struct Answers<Value: Sendable>: Sendable {
        package fileprivate(set) var answers: [Answer<Value>] = []
        package fileprivate(set) var silent: [Silence] = []
        /// Those that were not asked, as nobody serves them.
        package fileprivate(set) var unserved: [ListedJournal] = []
    }

    /// Asks all of them. Journals that were closed empty, and those that nobody has finished opening, have nothing to ask for:
    /// whoever opens one carries out the orders of then.
    ///
    /// - Parameter number: asks the journal of this number alone.
    /// - Throws: what keeps the journals from being listed.
    package func each<Value: Sendable>(
        only number: Int32? = nil,
        _ body: @escaping @Sendable (RemoteDesk, FleetPlaceForm) async throws -> Value
    ) async throws -> Answers<Value> {
        let listed: [ListedJournal]
        if let journals { listed = journals } else { listed = try await register.list() }
        let all = listed.filter { $0.id == number ?? $0.id }
        let asked = all.filter { $0.sighting.isFree ? $0.isLeft : !$0.isClosed }
        var results: [Int32: Result<Value, FleetSilence>] = [:]
        await withTaskGroup(of: (Int32, Result<Value, FleetSilence>).self) { group in
            var rest = asked[...]
            func next() {
                if let deadline, .now >= deadline { return }
                guard let journal = rest.popFirst() else { return }
                group.addTask { (journal.id, await self.ask(journal, body)) }
            }
            for _ in 0..<width { next() }
            for await (id, result) in group {
                results[id] = result
                onProgress(results.count, asked.count)
                next()
            }
        }
        var answers = Answers<Value>(unserved: all.filter(\.isUnserved))
        for journal in asked {
            let place = FleetPlaceForm(journal)
            switch results[journal.id] {
            case .success(let value)?: answers.answers.append(Answer(place: place, value: value))
            case .failure(let reason)?: answers.silent.append(Silence(place: place, reason: reason))
            case nil:
                let why = "it was not asked, as others took all of the time that there was"
                answers.silent.append(Silence(place: place, reason: FleetSilence(unasked: why)))
            }
        }
        return answers
    }

    private func ask<Value: Sendable>(
        _ journal: ListedJournal, _ body: @Sendable (RemoteDesk, FleetPlaceForm) async throws -> Value
    ) async -> Result<Value, FleetSilence> {
        guard !journal.sighting.isFree else { return .failure(FleetSilence(unowned: journal)) }
        if let why = known[journal.id] { return .failure(FleetSilence(unasked: why)) }
        do {
            let desk = try await register.open(journal.name, timeout: timeout)
            do {
                let value = try await body(desk, FleetPlaceForm(journal))
                await desk.close()
                return .success(value)
            } catch {
                await desk.close()
                throw error
            }
        } catch {
            return .failure(FleetSilence(error, explain(error)))
        }
    }

    private static func words(for error: any Error) -> String {
        switch error {
        case let error as JournalError: error.message
        case let error as ControlError: error.message
        default: "\(error)"
        }
    }
}
