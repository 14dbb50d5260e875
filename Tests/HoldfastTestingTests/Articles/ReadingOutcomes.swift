import Holdfast

func reportDeliveries(of engine: PushEngine, _ handle: ([Outcome]) async throws -> Void) async throws {
    for try await batch in try engine.outcomes(reader: "reports", of: ["crm"]) {
        if batch.missed > 0 { print("\(batch.missed) outcomes were deleted before they were read") }
        try await handle(batch.outcomes)
        // From here on this reader does not get them again, not even after a restart.
        try await batch.taken()
    }
}
