/// What one server of a connection string is found to be.
package struct SurveyedServer: Sendable {
    package enum State: Sendable {
        /// It can be written to. Without a sight where it does not let this user ask.
        case primary(ServerSight?)
        case standby
        case unreachable(PQError)
    }

    /// For people.
    package let place: String
    package let state: State
}

extension PQTarget {
    /// Asks each server of the string by itself.
    ///
    /// - Parameters:
    ///   - patience: with each.
    ///   - isWanted: whether a place is to be asked.
    package func survey(
        within patience: Duration, _ interruption: PQInterruption, where isWanted: (String) -> Bool = { _ in true }
    ) -> [SurveyedServer] {
        places.filter { isWanted($0.words) }.map { place in
            SurveyedServer(place: place.words, state: state(of: place, by: .now + patience, interruption))
        }
    }

    private func state(
        of place: PQPlace, by deadline: ContinuousClock.Instant, _ interruption: PQInterruption
    ) -> SurveyedServer.State {
        do throws(PQError) {
            let connection = try PQConnection(
                only(place), PQSession(applicationName: "holdfast servers"), by: deadline, interruption)
            defer { connection.close() }
            if connection.facts.isInRecovery { return .standby }
            return .primary(try ServerSight(connection, by: deadline))
        } catch {
            return .unreachable(error)
        }
    }
}

extension [SurveyedServer] {
    /// Servers of one cluster that can be written to at once, the newest first; empty where there are none.
    package var rivals: [ServerSight] {
        var primaries: [ServerSight] = []
        for case .primary(let sight?) in map(\.state)
        // One that has two addresses in the string is one.
        where !primaries.contains(where: { $0.system == sight.system && $0.start == sight.start }) {
            primaries.append(sight)
        }
        let clusters = Dictionary(grouping: primaries, by: \.system).values.filter { $0.count > 1 }
        return clusters.flatMap { $0.sorted { $0.timeline > $1.timeline } }
    }
}
