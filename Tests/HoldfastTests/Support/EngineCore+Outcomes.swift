@testable import Holdfast

extension EngineCore {
    /// The next batch of the engine's own reader.
    func nextOutcomes() async throws -> OutcomeBatch? {
        var passed = OutcomeSource.Passed()
        return try await outcomes.next(for: .init(name: OutcomeReader.engineName, producers: nil), &passed)
    }
}
