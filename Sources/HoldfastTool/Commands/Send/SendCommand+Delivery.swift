internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// A sending of its own, by a process that owns the journal.
extension SendCommand {
    /// - Throws: ``JournalError`` with code `ownedByAnotherProcess` when another owns it: nothing was done then.
    func deliver(
        _ source: Source, by path: String, _ plan: RoutePlan, _ configuration: HoldfastConfiguration
    ) async throws -> ToolStatus {
        var configuration = configuration
        // By their apns-ids the journal tells how these ended.
        if case .flags = source { configuration.limits.engine.remembersIDs = true }
        // Known to be in vain before a journal is made for it.
        if !FileManager.default.fileExists(atPath: path) {
            let routes = try ready(plan, remembered: nil)
            if case .flags(let draft) = source { _ = try notifications(draft, plan.defaults(of: routes, environment)) }
        }
        // What ends while its report is written must be there to be read.
        if report != nil, !configuration.journal.history.isKept { configuration.journal.history = HistoryPolicy() }

        let sending = FileSending(
            journal: path, source: .directory(path), mode: mode,
            defaults: report == nil
                ? LineDefaults(environment: environment)
                : plan.defaults(remembered: try RouteSettings.remembered(ifAnyBy: path), environment))
        let report: SendReport? =
            if case .file(let input) = source { try await sending.report(self.report, of: input) } else { nil }
        let journal: LMDBJournal
        do { journal = try await configuration.journal.open(at: path, create: true) } catch {
            try await report?.ledger.abandon()
            throw error
        }
        defer { journal.close() }
        for warning in journal.warnings { Console.standard.note("warning: \(warning)") }
        let remembered = try RouteSettings.read(from: journal, named: path)
        let routes = try ready(plan, remembered: remembered)
        let defaults = plan.defaults(of: routes, environment)
        let intake: Intake
        switch source {
        case .flags(let draft): intake = .notifications(try notifications(draft, defaults))
        case .file(let input):
            let task = try sending.task(of: input, in: journal, ids: report?.ledger.ids, defaults: defaults)
            if let report, report.place != task.place.progress {
                try await report.ledger.abandon()
                throw FileHandOver.takenByAnother(input.name)
            }
            if strict,
                try await !StrictCheck(
                    console: .standard, routes: routes.map(\.route),
                    defaultEnvironment: configuration.limits.engine.defaultEnvironment
                ).passes(task)
            {
                try await report?.ledger.discardIfEmpty()
                return .badInput
            }
            try input.seek(to: task.place.progress?.offset ?? 0)
            intake = .file(task)
        }
        if var route = plan.toRemember(of: routes) {
            // The topic of one by hand is the journal's only where that knows none.
            if case .flags = source { route.defaultTopic = remembered?.defaultTopic ?? route.defaultTopic }
            try remember(route, inPlaceOf: remembered, in: journal)
        }
        let delivery = Delivery(
            journal: journal, routes: routes, configuration: configuration, json: deliveryOptions.json)
        return try await delivery.run(intake, isQueueOnly: queueOnly, report: report)
    }
}
