import Foundation

/// Every fault, with each way of confirming that makes sense, over one connection and over four.
struct FaultMatrix {
    let options: FaultOptions

    private struct Summary: Encodable {
        var breaches = 0
        var duplicates = 0
        var failed = 0
        /// To late errors that silence was mistaken about.
        var lostToSilence = 0
        var notifications = 0
        var trials = 0
    }

    private var trials: [Trial] {
        Fault.all.filter { options.only == nil || $0.name == options.only }.flatMap { fault in
            [true, false].filter { $0 ? fault.withBarrier : fault.withQuiet }.flatMap { usesBarrier in
                (options.isHalf ? [usesBarrier ? 4 : 1] : [1, 4]).map { connections in
                    Trial(fault: fault, usesBarrier: usesBarrier, connections: connections, options: options)
                }
            }
        }
    }

    /// - Returns: whether every promise was kept.
    func run() async -> Bool {
        let trials = trials
        guard !trials.isEmpty else {
            say("no fault is called \(options.only ?? "")")
            return false
        }
        print(TrialResult.head)
        var summary = Summary()
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
            summary.notifications += result.notifications
            summary.duplicates += result.duplicates
            if trial.isFooled { summary.lostToSilence += result.lost }
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

    private func say(_ text: String) { FileHandle.standardError.write(Data("binary-faults: \(text)\n".utf8)) }
}
