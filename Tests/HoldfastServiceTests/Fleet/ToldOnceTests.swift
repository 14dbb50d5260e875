import Holdfast
import Logging
import Testing

@testable import HoldfastService

@Suite("A database that is away, seen by the engine and by the service around it")
struct ToldOnceTests {
    private struct Handler: LogHandler {
        let lines: Monitor<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.withLock { $0.append("\(event.message)") } }
    }

    private let lines = Monitor<[String]>([])

    private func told(_ looks: [(isAway: Bool, isEnginesToo: Bool)]) -> [String] {
        lines.withLock { $0 = [] }
        let lines = lines
        let conditions = ServiceConditions(
            Logger(label: "tests") { _ in Handler(lines: lines) }, interval: .zero)
        for look in looks {
            _ = conditions.look(engine: look.isEnginesToo ? [.databaseAway] : []) { now in
                look.isAway ? [HealthCondition(databaseAway: JournalError(.unreachable, "it is away"), since: now)] : []
            }
        }
        return lines.withLock { $0 }
    }

    @Test("Its end is told once, and its beginning, too, where the engine was first")
    func once() {
        let both = told([(true, true), (true, true), (false, false)])
        #expect(both.isEmpty)
        let later = told([(true, false), (true, true), (false, false)])
        #expect(later.count == 1 && later.first?.hasPrefix("it is away") == true, "\(later)")
        let alone = told([(true, false), (false, false)])
        #expect(alone.count == 2 && alone.last?.hasPrefix("the database answers again") == true, "\(alone)")
        // What the engine has told once is no reason to be silent for ever.
        let again = told([(true, true), (false, false), (true, false), (false, false)])
        #expect(again.count == 2, "\(again)")
    }
}
