import Foundation

/// Every fault, with each guarantee for which it makes a difference.
struct FaultMatrix {
    let options: FaultOptions

    private struct Summary: Encodable {
        var breaches = 0
        var duplicates = 0
        var failed = 0
        var faults = 0
        var lost = 0
        var notifications = 0
        var trials = 0
    }

    private var trials: [Trial] {
        Fault.all.filter { options.only?.contains($0.name) ?? true }.flatMap { fault in
            fault.guarantees.map { Trial(fault: fault, guarantee: $0, options: options) }
        }
    }

    /// - Returns: whether every promise was kept.
    func run() async -> Bool {
        let trials = trials
        guard !trials.isEmpty else {
            say("no fault is called \(options.only?.sorted().joined(separator: ", ") ?? "")")
            return false
        }
        guard !options.isList else {
            for fault in Fault.all { print("\(fault.name)\t\(fault.what)") }
            return true
        }
        print(TrialResult.head)
        var summary = Summary(faults: Set(trials.map(\.fault.name)).count)
        await withTaskGroup(of: (Int, Result<TrialResult, any Error>).self) { group in
            func start(_ number: Int) {
                guard number < trials.count else { return }
                group.addTask { (number, await Self.result(of: trials[number])) }
            }
            for number in 0..<min(options.jobs, trials.count) { start(number) }
            var next = options.jobs
            // The rows in their order, whichever trial ends first.
            var rows: [Int: String] = [:]
            var printed = 0
            while let (number, result) = await group.next() {
                start(next)
                next += 1
                rows[number] = take(result, of: trials[number], into: &summary)
                while let row = rows.removeValue(forKey: printed) {
                    print(row)
                    printed += 1
                }
                fflush(nil)
            }
        }
        print(line(summary))
        return summary.breaches == 0 && summary.failed == 0
    }

    private static func result(of trial: Trial) async -> Result<TrialResult, any Error> {
        do { return .success(try await trial.run()) } catch { return .failure(error) }
    }

    private func take(_ result: Result<TrialResult, any Error>, of trial: Trial, into summary: inout Summary) -> String
    {
        summary.trials += 1
        switch result {
        case .success(let result):
            summary.notifications += result.count
            summary.duplicates += result.duplicates
            summary.lost += result.lost
            summary.breaches += result.breaches.count
            for breach in result.breaches { say("\(trial.name): BREACH: \(breach)") }
            return result.row
        case .failure(let error):
            summary.failed += 1
            say("\(trial.name): FAILED: \(error)")
            return "| \(trial.fault.what) | FAILED |"
        }
    }

    private func line(_ summary: Summary) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
            return String(decoding: try encoder.encode(summary), as: UTF8.self)
        } catch {
            return "\(error)"
        }
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("http2-faults: \(text)\n".utf8)) }
}
