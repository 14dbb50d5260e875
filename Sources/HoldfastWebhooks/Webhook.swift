package import Holdfast
package import HoldfastRequests
package import Logging

/// Tells one receiver how notifications ended: performs what its ``WebhookMachine`` decides.
///
/// Neither it nor its receiver holds up delivery: the log of outcomes does not wait for it.
package final class Webhook: Sendable {
    /// The JSON of an outcome: one object.
    package typealias Writer = @Sendable (Outcome) throws -> [UInt8]

    /// How long outcomes are still posted at a shutdown, and a request under way is waited for.
    static let shutdownLimit: Duration = .seconds(3)
    /// How often the cursor on disk is looked at while nothing comes.
    private static let lookInterval: Duration = .seconds(5)
    /// From a failure of the journal to the next attempt.
    private static let journalPause: Duration = .seconds(10)

    package let configuration: WebhookConfiguration
    private let engine: PushEngine
    private let poster: any Posting
    private let write: Writer
    private let clock: EngineClock
    private let logger: Logger
    /// The flag by which a command names the journal, with the space behind it; empty if nobody knows its directory.
    private let journal: String
    private let shown = Monitor(Shown())
    private let lines: Monitor<FailureLines>
    private let ending = WebhookEnding()

    private struct Shown: Sendable {
        var figures = WebhookFigures()
        var cursor: OutcomeCursor?
        var oldest: WallTime?
        /// The journal's fault.
        var fault: String?
    }

    /// - Parameter directory: of the journal, as a word of a shell.
    package convenience init(
        _ configuration: WebhookConfiguration, engine: PushEngine, directory: String? = nil, logger: Logger,
        write: @escaping Writer
    ) {
        self.init(
            configuration, engine: engine, poster: HTTPPoster(configuration.target), clock: .system,
            directory: directory,
            logger: logger, write: write)
    }

    package init(
        _ configuration: WebhookConfiguration, engine: PushEngine, poster: any Posting, clock: EngineClock,
        directory: String? = nil, logger: Logger, write: @escaping Writer
    ) {
        journal = directory.map { "--journal \($0) " } ?? ""
        lines = Monitor(FailureLines(interval: engine.logInterval))
        (self.configuration, self.engine, self.poster) = (configuration, engine, poster)
        (self.clock, self.logger, self.write) = (clock, logger, write)
    }

    /// Posts until ``end()``, until the task is cancelled, or until the engine has ended and everything is told.
    package func run() async {
        await withTaskCancellationHandler {
            await work()
            await poster.close()
        } onCancel: {
            end()
        }
        engine.report(nil, ofReader: configuration.reader)
    }

    /// Ends it: what is left is posted for a short while, and no failure is repeated.
    package func end() { ending.begin(within: Self.shutdownLimit) }

    /// How it does.
    package var standing: WebhookStanding {
        let shown = shown.withLock { $0 }
        let newest = engine.outcomeLog.newest
        let waiting = shown.cursor.map { Int(clamping: newest.rawValue - min($0, newest).rawValue) } ?? 0
        let lag = waiting > 0 ? shown.oldest.map { max(.zero, clock.wall().since($0)) } ?? .zero : .zero
        return WebhookStanding(
            name: configuration.name, figures: shown.figures, waiting: waiting, lag: lag,
            trouble: Self.trouble(shown, configuration.address.server, now: clock.wall()))
    }

    // MARK: The loop

    private func work() async {
        while !ending.hasBegun {
            do {
                try await tell()
                return
            } catch {
                // A journal that fails ends the engine, and this with it.
                shown.withLock { $0.fault = "\(error)" }
                say(.error, "can't read how notifications ended: \(error); it is tried again")
                report()
                await ending.sleep(Self.journalPause)
            }
        }
    }

    private func tell() async throws {
        let cursor = try await engine.desk.openOutcomeReader(configuration.reader)
        var machine = WebhookMachine(configuration, at: cursor, newest: engine.outcomeLog.newest)
        var outcomes: [[UInt8]] = []
        while !ending.isOver {
            show(machine)
            machine.look(now: clock.moment().monotonic)
            switch machine.step {
            case .read:
                if let onDisk = engine.outcomeReaders.first(where: { $0.name == configuration.reader })?.cursor {
                    machine.found(onDisk)
                }
                guard case .read(let after) = machine.step else { continue }
                let known = machine.readsOn ? outcomes : outcomes.suffix(machine.keepsLast ? 1 : 0)
                if let written = try await read(after: after, &machine) {
                    outcomes = known + written
                } else if ending.hasBegun || engine.outcomesHaveEnded {
                    return await settle(&machine)
                }
            case .post(let post): await self.post(post, outcomes[post.items], &machine)
            case .move(let cursor): await move(to: cursor, &machine)
            case .wait(let time):
                // A receiver that fails now is told by the next process.
                if ending.hasBegun { return }
                await ending.sleep(time)
                machine.waited()
            }
        }
        await settle(&machine)
    }

    /// - Returns: the JSON of each outcome that was read and is to be told; nil when there was nothing to read for a while.
    private func read(after cursor: OutcomeCursor, _ machine: inout WebhookMachine) async throws -> [[UInt8]]? {
        let listing = try await ending.unlessBegun { [engine] in
            try await engine.desk.outcomes(
                after: cursor, limit: WebhookConfiguration.greatestBatch, of: nil, waitingAtMost: Self.lookInterval)
        }
        guard listing.end > cursor else {
            machine.foundNothing()
            return nil
        }
        let wanted = listing.outcomes.filter(configuration.wants)
        let written = try wanted.map(write)
        let items = zip(wanted, written).map { outcome, bytes in
            WebhookMachine.Item(cursor: outcome.cursor, byteCount: bytes.count, settledAt: outcome.settledAt)
        }
        if listing.unreadable > 0 { sayDamage(listing.unreadable) }
        say(
            machine.take(
                .init(
                    items: items, end: listing.end, missed: listing.missed, unreadable: listing.unreadable,
                    wasOff: listing.wasOff)))
        return written
    }

    private func post(_ post: WebhookMachine.Post, _ outcomes: ArraySlice<[UInt8]>, _ machine: inout WebhookMachine)
        async
    {
        let (name, now) = (configuration.name, clock.moment())
        let id = "\(name)-\(post.first)-\(post.last)"
        let body = WebhookBody.bytes(post, id: id, webhook: name, timestamp: now.wall, outcomes: outcomes)
        let result: PostResult
        do {
            let signature = try WebhookSignature.value(
                id: id, timestamp: now.wall.seconds, body: body, secret: configuration.secret)
            let request = PostRequest(
                headers: [
                    "webhook-id": id, "webhook-timestamp": "\(now.wall.seconds)", "webhook-signature": signature,
                ], body: body)
            result = await ending.unlessOver { [poster, timeout = configuration.timeout] in
                await poster.post(request, within: timeout)
            }
        } catch {
            result = .notSent("it can't be signed: \(error)")
        }
        let news = machine.answered(result, to: post, now: clock.moment(), random: .random(in: 0..<1))
        show(machine)
        // Before the cursor moves: what was passed over is in the log by then.
        say(news)
        sayLasting()
    }

    private func move(to cursor: OutcomeCursor, _ machine: inout WebhookMachine) async {
        do {
            do {
                try await engine.moveReader(configuration.reader, to: cursor)
            } catch let error as JournalError where error.code == .notFound {
                // An operator has forgotten it, and it is configured.
                _ = try await engine.desk.openOutcomeReader(configuration.reader)
                try await engine.moveReader(configuration.reader, to: cursor)
            }
            machine.moved()
        } catch {
            say(.warning, "can't store its cursor, and tries again: \(error)")
            machine.moveFailed(random: .random(in: 0..<1))
        }
    }

    /// What was taken is on disk before the end.
    private func settle(_ machine: inout WebhookMachine) async {
        machine.end()
        if case .move(let cursor) = machine.step { await move(to: cursor, &machine) }
        show(machine)
    }

    // MARK: Telling

    private func show(_ machine: WebhookMachine) {
        shown.withLock { shown in
            shown = Shown(figures: machine.figures, cursor: machine.cursor, oldest: machine.oldest)
        }
        report()
    }

    private func report() {
        let shown = shown.withLock { $0 }
        engine.report(
            ReaderReport(
                cursor: shown.cursor ?? .start,
                trouble: Self.trouble(shown, configuration.address.server, now: clock.wall()),
                notice: Self.notice(shown, configuration.address.server)),
            ofReader: configuration.reader)
    }

    private static func trouble(_ shown: Shown, _ server: String, now: WallTime) -> String? {
        if let fault = shown.fault { return "the journal can't be read: \(fault)" }
        let figures = shown.figures
        guard let since = figures.failingSince, let fault = figures.fault else { return nil }
        let next =
            if let at = figures.nextAttempt, at > now {
                "is made at \(Timestamp.format(at))"
            } else {
                "is under way"
            }
        let requests = figures.failuresInARow == 1 ? "1 request" : "\(figures.failuresInARow) requests"
        return "\(server) has taken nothing since \(Timestamp.format(since)) (\(requests)): \(fault); the next \(next)"
    }

    private static func notice(_ shown: Shown, _ server: String) -> String? {
        shown.figures.lastSkipped.map { last -> String in
            let isOne = shown.figures.skipped == 1
            return (isOne ? "1 outcome was" : "\(shown.figures.skipped) outcomes were")
                + " passed over, since \(server) refuses \(isOne ? "it" : "them") and takes others; the last has cursor "
                + "\(last.cursor): "
                + last.fault
        }
    }

    private static func outcomes(_ count: Int) -> String { count == 1 ? "1 outcome" : "\(count) outcomes" }

    private func sayDamage(_ count: Int) {
        say(
            .error,
            "\(Self.outcomes(count)) cannot be read, since the journal is damaged, and \(configuration.address.server) is not "
                + "told; it is told how many")
    }

    private func say(_ news: WebhookMachine.News?) {
        let server = configuration.address.server
        switch news {
        case nil: break
        case .failing(let fault):
            if let passed = lines.withLock({ $0.begins(now: clock.moment().monotonic) }) { sayFailing(fault, passed) }
        case .recovered(let time, let failures):
            guard lines.withLock({ $0.ends() }) else { return }
            let requests = failures == 1 ? "1 request" : "\(failures) requests"
            say(
                .notice,
                "\(server) takes outcomes again, after \(time.words) and \(requests) that failed; "
                    + "\(Self.outcomes(standing.waiting)) \(standing.waiting == 1 ? "is" : "are") to be told")
        case .missed(let count):
            say(
                .warning,
                "\(count) outcomes were deleted before \(server) was told, for the bounds of the history; it is told how many"
            )
        case .wasOff:
            say(
                .warning,
                "outcomes that ended while the history was off can't be told to \(server), nobody knows how many; it is told so"
            )
        case .tooLarge(let limit):
            say(
                .notice, "\(server) calls a request too large (413), and gets at most \(Self.outcomes(limit)) at a time"
            )
        case .halved(let status, let limit):
            say(.notice, "\(server) refuses a request (\(status)), and gets at most \(Self.outcomes(limit)) at a time")
        case .skipped(let count, let last, let fault):
            say(
                .error,
                "\(server) refuses \(count == 1 ? "an outcome" : "\(count) outcomes") again and again, and takes the next: "
                    + "passed over up to cursor \(last) (\(fault)); `holdfast outcomes list \(journal)--after "
                    + "\(last.rawValue - 1) --limit 1` shows the last")
        }
    }

    /// A failure that began soon after the line of another has its own when it lasts.
    private func sayLasting() {
        guard let fault = shown.withLock({ $0.figures.failingSince == nil ? nil : $0.figures.fault }) else { return }
        if let passed = lines.withLock({ $0.lasts(now: clock.moment().monotonic) }) { sayFailing(fault, passed) }
    }

    /// - Parameter passed: failures without a line since the last one.
    private func sayFailing(_ fault: String, _ passed: Int) {
        let others = passed > 0 ? " (and did so \(passed == 1 ? "once" : "\(passed) times") since the last line)" : ""
        say(
            .warning,
            "\(configuration.address.server) takes no outcomes, and is asked again until it does\(others): \(fault)")
    }

    private func say(_ level: Logger.Level, _ words: String) {
        logger.log(level: level, "webhook \(configuration.name): \(words)", metadata: ["event": "webhook"])
    }
}
