import HoldfastTesting
import Testing

@testable import Holdfast

/// An engine of many routes: what concerns one of them is the others' business only where they wait for it.
@Suite(.timeLimit(.minutes(1))) struct ManyRoutesTests {
    private let connectors = (0..<100).map { _ in StubConnector(.perNotification) }

    private func stage(change: (inout EngineConfiguration) -> Void = { _ in }) throws -> Stage {
        try Stage(
            connectors.enumerated().map { number, connector in
                Route(name: "route-\(number)", connector: connector, topics: ["topic-\(number)"], connections: 1)
            }, change: change)
    }

    @Test("A commit wakes the Consumers of the lanes that it changed, and no others") func concerned() throws {
        let stage = try stage()
        stage.settle()
        stage.submit(0..<10, topic: "topic-7")
        #expect(stage.core.routes.filter { stage.core.hasNews(route: $0) } == [7])
        stage.settle()
        stage.connections(of: connectors[7])[0].answerAll()
        stage.commits = false
        stage.settle()
        stage.journal.commit()
        #expect(stage.core.routes.filter { stage.core.hasNews(route: $0) } == [7])
        stage.commits = true
        stage.settle()
        #expect(stage.status.confirmed == 10)
    }

    @Test("A route that holds for outcomes goes on when some are taken, although no commit is about its lanes")
    func outcomesTaken() throws {
        let stage = try stage {
            $0.keepsOutcomes = true
            $0.outcomeLimit = 3
        }
        stage.submit(0..<3, topic: "topic-1")
        stage.settle()
        stage.connections(of: connectors[1])[0].answerAll()
        stage.settle()
        stage.submit(3..<6, topic: "topic-2")
        stage.settle()
        #expect(stage.sent(connectors[2]) == [])
        let end = try stage.journal.outcomes(after: .start, limit: 10).end
        stage.journal.setReader(OutcomeReader.engineName, to: end) { _ in }
        stage.settle()
        #expect(stage.sent(connectors[2]) == [3, 4, 5])
    }
}
