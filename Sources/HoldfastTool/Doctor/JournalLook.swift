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
            let credential = settings.withheldCredential
            // A working copy of a journal in a database is there, or is not looked at.
            if settings.postgres == nil,
                try !LMDBJournal.examine(
                    path, credential == nil ? settings.options(create: true) : LMDBJournal.Options())
            {
                return JournalFacts(path: path, state: unmade(path))
            }
            if let credential, KeyFileChoice.isWithheld { return try await withheld(path, credential) }
            // A configuration that names it alone would serve it as a journal of its own.
            let isServed = settings.postgres == nil && settings.path != nil
            let (status, history, owner, sealing) = try read(path, isServed: isServed)
            var figures = JournalFacts.Figures(owner: owner, unconfirmed: status.unconfirmed)
            (figures.used, figures.quarantined) = (status.usedBytes, status.quarantined)
            figures.limit = status.limitBytes > 0 ? status.limitBytes : settings.limit
            figures.entryLimit = settings.entries
            figures.readOnly = SystemProbe.readOnly(path)
            (figures.sealing, figures.hasKey) = (sealing, settings.keyFile != nil)
            if !configuration.routes.isEmpty {
                figures.unserved = UnservedLane.find(in: status, routes: configuration.routes.map(\.name))
            }
            var facts = JournalFacts(path: path, state: .open(figures))
            facts.history = Self.history(history, settings)
            if let owner { facts.service = await service(path, owner) }
            return facts
        } catch {
            var facts = JournalFacts(path: path, state: .unreadable(error))
            if error.code == .wrongKey { facts.service = await serviceWithoutKey(path) }
            return facts
        }
    }

    /// Who has no key can ask the process all the same.
    private static func withheld(_ path: String, _ credential: String) async throws(JournalError) -> JournalFacts {
        let owner = try JournalReader.owner(of: path)
        var facts = JournalFacts(
            path: path, state: .withheld(JournalFacts.Withheld(owner: owner, credential: credential)))
        if let owner { facts.service = await service(path, owner) }
        return facts
    }

    /// - Returns: nil at rest.
    private static func serviceWithoutKey(_ path: String) async -> JournalFacts.Service? {
        do throws(JournalError) {
            guard let owner = try JournalReader.owner(of: path) else { return nil }
            return await service(path, owner)
        } catch {
            return .silent(error.message, next: JournalFacts.remedy(of: error))
        }
    }

    private static func read(
        _ path: String, isServed: Bool
    ) throws(JournalError) -> (JournalStatus, OutcomeLogStatus, String?, JournalSealing) {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        if isServed { try reader.refuseCopy() }
        return (try reader.status(), try reader.history(), reader.owner, reader.sealing)
    }

    private static func unmade(_ path: String) -> JournalFacts.State {
        let directory =
            FileManager.default.fileExists(atPath: path)
            ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
        if let error = SystemProbe.refusal(making: path, in: directory) { return .unreadable(error) }
        return .unmade(directory: directory)
    }

    private static func history(_ status: OutcomeLogStatus, _ settings: JournalSettings) -> JournalFacts.History? {
        guard settings.history.isKept else { return nil }
        return JournalFacts.History(
            bytes: status.bytes, limit: settings.history.limitBytes, keep: settings.history.age,
            span: status.oldestAt.map { EngineClock.system.wall().since($0) }, lost: status.lost)
    }

    private static func service(_ path: String, _ owner: String) async -> JournalFacts.Service {
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
        } catch let error as ControlError where error.code == .notServed {
            let socket = MissingSocket(of: owner, journal: path)
            return .silent(socket.words, next: socket.next)
        } catch {
            let why = ToolError(error, otherwise: .unavailable).message
            return .silent(why, next: JournalFacts.remedy(ofSilent: owner))
        }
    }
}
