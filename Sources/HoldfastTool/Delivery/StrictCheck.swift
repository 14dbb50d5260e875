internal import Foundation
internal import Holdfast
internal import HoldfastService

/// Reads a whole input without taking anything of it: what `--strict` does first.
struct StrictCheck {
    let console: Console
    /// Empty for the form of the lines only.
    let routes: [Route]
    var defaultEnvironment = PushEnvironment.production

    /// Names what is bad, up to a number, and leaves the input at its end.
    func passes(_ task: InputTask) async throws(ToolError) -> Bool {
        var input = task.input
        var reporter = FaultReporter(console: console, name: input.file.name)
        let validators = routes.map { NotificationValidator(limits: $0.connector.limits) }
        let topics = try topics()
        let now = EngineClock.system.wall()
        while true {
            let batch = try await input.next()
            for (line, fault) in batch.faults { reporter.malformed(line: line, fault) }
            for (index, notification) in batch.notifications.enumerated() {
                do throws(Refusal) {
                    if let name = batch.producer { try Producer.check(name: name) }
                    if let topics {
                        try validators[try topics.index(for: notification)].validate(notification, now: now)
                    }
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

    private func topics() throws(ToolError) -> TopicRoutes? {
        guard !routes.isEmpty else { return nil }
        do throws(RouteError) {
            return try TopicRoutes(routes, defaultEnvironment: defaultEnvironment)
        } catch {
            throw ToolError(.configuration, error.description)
        }
    }
}
