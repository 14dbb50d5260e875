import Foundation

/// One trial of a table, with a name of its own.
package protocol TableTrial: Sendable {
    associatedtype Result: TableTrialResult

    var name: String { get }
    /// For the row of one that did not come to its end.
    var what: String { get }

    func run() async throws -> Result
}

package protocol TableTrialResult: Sendable {
    /// In words; empty when every promise was kept.
    var breaches: [String] { get }
    /// In Markdown.
    var row: String { get }
}

/// Makes trials, so many at a time, and shows a row of each in their order, whichever ends first.
package struct TrialTable<Trial: TableTrial> {
    private let program: String
    private let head: String
    private let trials: [Trial]
    private let jobs: Int

    /// - Parameters:
    ///   - program: named before what is said on standard error.
    ///   - head: of the Markdown table, two lines.
    package init(_ program: String, head: String, trials: [Trial], jobs: Int) {
        self.program = program
        self.head = head
        self.trials = trials
        self.jobs = jobs
    }

    /// What all trials have in common, for the line of JSON at the end.
    package struct Outcome: Encodable {
        fileprivate(set) var trials = 0
        fileprivate(set) var breaches = 0
        /// Those that did not come to their end.
        fileprivate(set) var failed = 0

        package var isGood: Bool { breaches == 0 && failed == 0 }
    }

    /// - Parameter take: given each that came to its end, in their order.
    package func run(_ take: (Trial, Trial.Result) -> Void) async -> Outcome {
        print(head)
        var outcome = Outcome()
        await withTaskGroup(of: (Int, Result<Trial.Result, any Error>).self) { group in
            func start(_ number: Int) {
                guard number < trials.count else { return }
                group.addTask { [trials] in (number, await Self.result(of: trials[number])) }
            }
            for number in 0..<min(jobs, trials.count) { start(number) }
            var next = jobs
            var ready: [Int: Result<Trial.Result, any Error>] = [:]
            var shown = 0
            while let (number, result) = await group.next() {
                start(next)
                next += 1
                ready[number] = result
                while let result = ready.removeValue(forKey: shown) {
                    show(trials[shown], result, &outcome, take)
                    shown += 1
                }
                fflush(nil)
            }
        }
        return outcome
    }

    private static func result(of trial: Trial) async -> Result<Trial.Result, any Error> {
        do { return .success(try await trial.run()) } catch { return .failure(error) }
    }

    private func show(
        _ trial: Trial, _ result: Result<Trial.Result, any Error>, _ outcome: inout Outcome,
        _ take: (Trial, Trial.Result) -> Void
    ) {
        outcome.trials += 1
        switch result {
        case .success(let result):
            outcome.breaches += result.breaches.count
            for breach in result.breaches { say("\(trial.name): BREACH: \(breach)") }
            take(trial, result)
            print(result.row)
        case .failure(let error):
            outcome.failed += 1
            say("\(trial.name): FAILED: \(error)")
            print("| \(trial.what) | FAILED |")
        }
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("\(program): \(text)\n".utf8)) }
}
