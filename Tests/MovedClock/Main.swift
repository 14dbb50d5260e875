import CMovedClock
import Foundation
import Holdfast
import HoldfastJournal
import HoldfastTesting

/// `MovedClock START LATER`: runs an engine whose wall clock is START seconds ahead, and later LATER, while what
/// it sends waits for a connection that fails at first.
///
/// Stepped clocks don't see how a thread waits. One that is told an instant of the wall clock stands still for as long as
/// that clock is ahead of the kernel's.
@main enum MovedClock {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let start = Int64(CommandLine.arguments[1]),
            let later = Int64(CommandLine.arguments[2])
        else { fatalError("MovedClock START LATER, in seconds") }
        // By the kernel's clock: one that stands still is ended by the signal.
        alarm(60)
        mc_move(start)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("moved-clock-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let connector = InMemoryConnector()
        let engine = try PushEngine(
            journal: try LMDBJournal(directory: folder.path), routes: [Route(connector: connector)])
        let running = Task { try await engine.run() }
        for (round, offset) in [start, later].enumerated() {
            mc_move(offset)
            // The first pause is behind the first of them.
            connector.failConnecting(Array(repeating: ConnectError(.temporary, "nobody listens"), count: 2))
            connector.endConnection(possiblySent: false)
            _ = await engine.producer.submit((round * 100..<round * 100 + 100).map { SampleNotification.numbered($0) })
            _ = await engine.untilIdle()
        }
        running.cancel()
        try await running.value
        print("sent \(connector.sent.count)")
    }
}
