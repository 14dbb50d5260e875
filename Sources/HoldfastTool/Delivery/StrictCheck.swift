internal import Foundation
internal import Holdfast

/// Reads a whole input without taking anything of it: what `--strict` does first.
struct StrictCheck {
    let console: Console
    /// Of the route's connector.
    let limits: NotificationLimits

    /// Names what is bad, up to a number, and leaves the input at its end.
    func passes(_ task: InputTask) async throws(ToolError) -> Bool {
        var input = task.input
        var reporter = FaultReporter(console: console, name: input.file.name)
        let validator = NotificationValidator(limits: limits)
        let now = EngineClock.system.wall()
        while true {
            let batch = try await input.next()
            for (line, fault) in batch.faults { reporter.malformed(line: line, fault) }
            for (index, notification) in batch.notifications.enumerated() {
                do throws(Refusal) {
                    try validator.validate(notification, now: now)
                } catch {
                    reporter.refused(line: batch.lines[index], error)
                }
            }
            if batch.isLast { break }
        }
        reporter.finish()
        guard reporter.count > 0 else { return true }
        console.error("\(input.file.name): \(Format.plural(reporter.count, "bad line")); nothing was taken (--strict)")
        return false
    }
}
