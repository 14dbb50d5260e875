internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

extension HealthReport {
    /// - Throws: ``JournalError`` for a journal that can't be read; ``ToolError`` for one of the fleet whose owner is silent.
    static func read(_ place: JournalPlace) async throws -> HealthReport {
        switch place {
        case .fleet(let journal):
            return try await journal.use { desk in
                var report = HealthReport(try await desk.status(), journal: "journal \(journal.name)")
                report.owner = desk.owner
                return report
            }
        case .served(let journal): return try await read(journal.path)
        case .directory(let path): return try await read(path)
        }
    }

    /// Whoever uses the journal says how it is: no key is needed for that.
    private static func read(_ path: String) async throws -> HealthReport {
        var (silence, next): (String?, String?) = (nil, nil)
        let owner = try JournalReader.owner(of: path)
        if let owner {
            do {
                var report = HealthReport(try await answerOfBeginner(path), journal: path)
                report.owner = owner
                return report
            } catch let error as ControlError {
                let socket = error.code == .notServed ? MissingSocket(of: owner, journal: path) : nil
                (silence, next) = (socket?.words ?? error.message, socket?.next)
            }
        }
        let wait = owner == nil ? HostDirectory.directory(ofOwn: path).flatMap(HostDirectory.wait(in:)) : nil
        let reader: JournalReader?
        do throws(JournalError) { reader = try self.reader(at: path) } catch {
            // Nobody needs a key to be told that nothing runs.
            guard error.code == .wrongKey else { throw error }
            var report = HealthReport(wait, journal: path)
            if wait == nil {
                report.state = silence == nil ? .atRest : .silent
                (report.owner, report.silence, report.next) = (owner, silence, next)
            }
            report.unread = error.message
            return report
        }
        guard let reader else { return HealthReport(wait, journal: path) }
        defer { reader.close() }
        // One that has begun meanwhile says more the next time.
        if owner == nil, wait == nil, reader.owner != nil { silence = "it is just beginning" }
        let status = try reader.status()
        var report = HealthReport(wait, journal: path, conditions: try atRest(reader))
        if wait == nil {
            report.state = silence == nil ? .atRest : .silent
            (report.owner, report.silence, report.next) = (owner ?? reader.owner, silence, next)
        }
        if let remedy = reader.sealing.remedy(of: path) {
            report.halfSealed = "\(reader.sealing.words). Next: \(remedy)"
        }
        report.unconfirmed = status.unconfirmed
        report.deferred = status.lanes.reduce(0) { $0 + $1.deferred + $1.scheduled }
        report.oldestAcceptedAt = try JournalReport.oldest(status.lanes, reader).values.min().map(ExactTime.init)
        return report
    }

    /// - Parameter wait: what a process waits for that has no journal yet; nil where none does.
    private init(_ wait: OpeningWait?, journal: String, conditions: [HealthCondition] = []) {
        guard let wait else {
            self.init(State.none, journal: journal, conditions: conditions)
            return
        }
        let hindrance =
            wait.lacksRoom
            ? HealthCondition(noRoom: wait.words, since: wait.since)
            : wait.error.map { HealthCondition(databaseAway: $0, since: wait.since) }
        self.init(
            hindrance == nil ? .silent : .running, journal: journal, owner: "process \(wait.process)",
            conditions: conditions + [hindrance].compactMap(\.self))
        silence = hindrance != nil ? nil : "it waits before it begins: \(wait.words)"
    }

    /// A service has its journal a moment before its socket.
    private static func answerOfBeginner(_ path: String) async throws -> DeskStatus {
        let deadline = ContinuousClock.now + .seconds(1)
        while true {
            do {
                return try await answer(path)
            } catch let error as ControlError where error.code == .notServed && ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private static func answer(_ path: String) async throws -> DeskStatus {
        let desk = try await RemoteDesk(journal: path)
        let result: Result<DeskStatus, any Error>
        do { result = .success(try await desk.status()) } catch { result = .failure(error) }
        await desk.close()
        return try result.get()
    }

    /// - Returns: nil where there is no journal.
    private static func reader(at path: String) throws(JournalError) -> JournalReader? {
        do throws(JournalError) {
            return try JournalReader(at: path)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private init(_ status: DeskStatus, journal: String) {
        self.init(status.conditions == nil ? .silent : .running, journal: journal, conditions: status.conditions ?? [])
        if status.conditions == nil { silence = "its version says nothing of its health" }
        unconfirmed = status.lanes.reduce(0) { $0 + $1.unconfirmed }
        deferred = status.lanes.reduce(0) { $0 + $1.deferred + $1.scheduled }
        oldestAcceptedAt = status.lanes.compactMap(\.oldestAcceptedAt).min().map(ExactTime.init)
        takenOver = status.takenOver.isEmpty ? nil : status.takenOver.map(TakenOverForm.init)
    }

    /// What a journal says by itself.
    static func atRest(_ reader: JournalReader) throws(JournalError) -> [HealthCondition] {
        let status = try reader.status()
        let now = EngineClock.system.wall()
        var found = status.lanes.compactMap { lane -> HealthCondition? in
            let name = lane.key.description
            let resume = "holdfast lanes resume \(ShellText.word(name))"
            switch lane.state {
            case .running: return nil
            case .paused(let reason, let since):
                return HealthCondition(
                    .lanePaused, .notice, "lane", name, route: lane.key.route, since: since,
                    affected: lane.unconfirmed,
                    what: "an operator has paused lane \(name)" + (reason.isEmpty ? "" : ": \(reason)"),
                    next: "resume it when its time has come", command: resume)
            case .stopped(let reason, let since):
                return HealthCondition(
                    .laneStopped, .fault, "lane", name, route: lane.key.route, since: since,
                    affected: lane.unconfirmed, what: "lane \(name) is stopped: \(reason)",
                    next: "mend the cause; whoever delivers the journal next tries again")
            }
        }
        for pause in try reader.pausedTags() {
            found.append(
                HealthCondition(
                    .tagPaused, .notice, "tag", TagPause.name(of: pause.tag), since: pause.since, affected: pause.held,
                    what: "an operator has paused tag \(TagPause.name(of: pause.tag).debugDescription)",
                    next: "resume it when its time has come",
                    command: TagPause.command(resuming: pause.tag)))
        }
        if status.quarantined > 0 {
            found.append(
                HealthCondition(
                    .entriesQuarantined, .fault, "journal", since: now, affected: status.quarantined,
                    what: "\(Format.plural(status.quarantined, "entry", "entries")) can't be read",
                    next: "look at them, and take back what can't be mended",
                    command: "holdfast journal quarantine list"))
        }
        if status.usedBytes >= status.limitBytes {
            found.append(
                HealthCondition(
                    .journalFull, .fault, "journal", since: now,
                    what:
                        "the journal has reached its limit of \(Format.bytes(status.limitBytes)), and takes nothing more "
                        + "until it has drained", next: "have it delivered", command: "holdfast recover"))
        }
        return found
    }
}
