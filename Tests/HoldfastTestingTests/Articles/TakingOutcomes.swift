import Holdfast

func takeOutcomes(of engine: PushEngine, _ handle: (Outcome) -> Void) async throws {
    for try await batch in engine.outcomes {
        for outcome in batch.outcomes { handle(outcome) }
        // From here on the journal need not keep them any more.
        try await batch.taken()
    }
}

func engineThatKeepsOutcomes(journal: any Journal, connector: any Connector) throws -> PushEngine {
    var configuration = EngineConfiguration()
    configuration.keepsOutcomes = true
    return try PushEngine(
        journal: journal, routes: [Route(connector: connector)], configuration: configuration)
}
