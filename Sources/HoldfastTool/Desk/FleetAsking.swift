internal import Holdfast
internal import HoldfastControl
internal import HoldfastPostgres
internal import HoldfastService

/// Asks the owners of all journals of a fleet, some at a time. One that does not answer holds up nobody.
struct FleetAsking {
    /// Owners that are asked at a time, each over a session of its own with the database.
    private static let width = 8

    let register: FleetRegister
    /// How long an owner may take for each answer.
    let timeout: Duration
    var console = Console.standard

    /// A journal, and the owner's answer.
    struct Answer<Value: Sendable>: Sendable {
        let place: FleetPlaceForm
        let value: Value
    }

    /// What came back, by the numbers of the journals.
    struct Answers<Value: Sendable> {
        var answers: [Answer<Value>] = []
        /// Those of whom nothing is known, and why.
        fileprivate(set) var silent: [(place: FleetPlaceForm, why: String)] = []
    }

    /// Asks all of them. Journals that were closed empty, and those that nobody has taken yet, have nothing to ask for.
    ///
    /// - Parameter number: asks the journal of this number alone.
    /// - Throws: what keeps the journals from being listed.
    func each<Value: Sendable>(
        only number: Int32? = nil,
        _ body: @escaping @Sendable (RemoteDesk, FleetPlaceForm) async throws -> Value
    ) async throws -> Answers<Value> {
        let journals = try await register.list().filter { journal in
            (!journal.sighting.isFree || journal.isLeft) && journal.id == number ?? journal.id
        }
        var results: [Int32: Result<Value, ToolError>] = [:]
        await withTaskGroup(of: (Int32, Result<Value, ToolError>).self) { group in
            var rest = journals[...]
            func next() {
                guard let journal = rest.popFirst() else { return }
                group.addTask { (journal.id, await self.ask(journal, body)) }
            }
            for _ in 0..<Self.width { next() }
            for await (id, result) in group {
                results[id] = result
                console.showStatus("asked: \(results.count) of \(journals.count)")
                next()
            }
        }
        console.showStatus("")
        var answers = Answers<Value>()
        for journal in journals {
            let place = FleetPlaceForm(journal)
            switch results[journal.id] {
            case .success(let value)?: answers.answers.append(Answer(place: place, value: value))
            case .failure(let error)?: answers.silent.append((place, error.message))
            case nil: answers.silent.append((place, "it was not asked"))
            }
        }
        return answers
    }

    private func ask<Value: Sendable>(
        _ journal: ListedJournal, _ body: @Sendable (RemoteDesk, FleetPlaceForm) async throws -> Value
    ) async -> Result<Value, ToolError> {
        guard !journal.sighting.isFree else {
            return .failure(
                ToolError(
                    .hostSilent,
                    "it has no owner since \(journal.host ?? "its host") gave it up; a host that runs takes it over"))
        }
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
            return .failure(ToolError(error, otherwise: .internalFault))
        }
    }
}

extension FleetAsking.Answers {
    /// The last lines: which journals have not answered.
    ///
    /// - Parameter order: the number of an order that they carry out later.
    /// - Returns: the command's status if it would end with `status`.
    func tellSilent(
        json: Bool, status: ToolStatus = .ok, order: Int64? = nil, console: Console = .standard
    ) throws -> ToolStatus {
        for (place, reason) in silent {
            let why =
                reason + (order.map { "; order \($0) is kept, and carried out there as soon as a host can" } ?? "")
            if json { console.print(try JSONOutput.line(SilentForm(place: place, why: why))) }
            console.error("journal \(place.journal)\(place.host.map { " of host \($0)" } ?? "") did not answer: \(why)")
        }
        return silent.isEmpty ? status : max(status, .hostSilent)
    }
}
