internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

/// Looks at a journal and at its process. A journal at rest is held for reading for some milliseconds, and not changed.
enum JournalLook {
    /// - Parameter settings: the configuration's; those of a journal that is named alone have the defaults.
    static func look(_ path: String, _ configuration: HoldfastConfiguration) async -> JournalFacts {
        let settings = configuration.journal
        do throws(JournalError) {
            // A working copy of a journal in a database is there, or is not looked at.
            if settings.postgres == nil, try !LMDBJournal.examine(path, settings.options(create: true)) {
                return JournalFacts(path: path, state: unmade(path))
            }
            let (status, history, owner) = try read(path)
            var figures = JournalFacts.Figures(owner: owner, unconfirmed: status.unconfirmed)
            (figures.used, figures.quarantined) = (status.usedBytes, status.quarantined)
            figures.limit = status.limitBytes > 0 ? status.limitBytes : settings.limit
            figures.entryLimit = settings.entries
            figures.isWritable = FileManager.default.isWritableFile(atPath: path)
            if !configuration.routes.isEmpty {
                figures.unserved = UnservedLane.find(in: status, routes: configuration.routes.map(\.name))
            }
            var facts = JournalFacts(path: path, state: .open(figures))
            facts.history = Self.history(history, settings)
            if owner != nil { facts.service = await service(path) }
            return facts
        } catch {
            return JournalFacts(path: path, state: .unreadable(error))
        }
    }

    private static func read(_ path: String) throws(JournalError) -> (JournalStatus, OutcomeLogStatus, String?) {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        return (try reader.status(), try reader.history(), reader.owner)
    }

    private static func unmade(_ path: String) -> JournalFacts.State {
        let directory =
            FileManager.default.fileExists(atPath: path)
            ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: directory) else {
            return .unreadable(
                JournalError(.permissionDenied, "it can't be made: this user may not write to \(directory)"))
        }
        return .unmade(directory: directory)
    }

    private static func history(_ status: OutcomeLogStatus, _ settings: JournalSettings) -> JournalFacts.History? {
        guard settings.history.isKept else { return nil }
        return JournalFacts.History(
            bytes: status.bytes, limit: settings.history.limitBytes, keep: settings.history.age,
            span: status.oldestAt.map { EngineClock.system.wall().since($0) }, lost: status.lost)
    }

    private static func service(_ path: String) async -> JournalFacts.Service {
        var limits = RemoteDesk.Configuration()
        (limits.connectLimit, limits.answerLimit) = (.seconds(3), .seconds(5))
        let start = ContinuousClock.now
        do {
            let desk = try await RemoteDesk(journal: path, configuration: limits)
            do {
                let status = try await desk.status()
                await desk.close()
                return .answered(status, in: ContinuousClock.now - start)
            } catch {
                await desk.close()
                throw error
            }
        } catch {
            return .silent(ToolError(error, otherwise: .unavailable).message)
        }
    }
}
