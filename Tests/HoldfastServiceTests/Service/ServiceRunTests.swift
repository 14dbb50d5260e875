import Foundation
import Holdfast
import HoldfastGateway
import HoldfastTesting
import Logging
import Scratch
import Testing

@testable import HoldfastService

@Suite("A service and its journal")
struct ServiceRunTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A service over journals in memory, which end in nothing.
    private func makeRun(_ journals: Journals, sleep: @escaping @Sendable (Duration) async throws -> Void) throws
        -> ServiceRun
    {
        try write(routes: ["default"])
        let configuration = try HoldfastConfiguration.load(file: folder("c.yaml"), environment: [:])
        var sources = ServiceRun.Sources {
            try HoldfastConfiguration.load(file: folder("c.yaml"), environment: [:])
        }
        sources.openJournal = { _, _, _, _ in try await journals.open() }
        sources.sleep = sleep
        return ServiceRun(
            configuration, routes: try ServicePlan.routes(configuration),
            host: ServiceHost { Logger(label: $0) { _ in SwiftLogNoOpLogHandler() } }, sources: sources)
    }

    /// The configuration's file; each route serves the topic of its name, the first all others, too.
    private func write(routes: [String]) throws {
        let routes = routes.enumerated().map { number, name in
            "{name: \(name), endpoint: \"http://127.0.0.1:1\"\(number > 0 ? ", topics: [\(name)]" : "")}"
        }
        try folder.write(
            "c.yaml",
            """
            journal: {path: push.journal}
            routes: [\(routes.joined(separator: ", "))]
            gateway: {http2: {listen: "127.0.0.1:0"}}
            log: {level: critical}
            """)
    }

    /// One disk, opened again and again.
    private final class Journals: Sendable {
        private struct State: Sendable {
            var journal = InMemoryJournal()
            var opened = 0
            var failure: JournalError?
            var whileOpening: (@Sendable () async throws -> Void)?
        }

        private let state = Monitor(State())

        var opened: Int { state.withLock(\.opened) }
        var current: InMemoryJournal { state.withLock(\.journal) }

        func fail(with error: JournalError) { state.withLock { $0.failure = error } }

        /// Done once, while the journal is opened.
        func whileOpening(_ body: @escaping @Sendable () async throws -> Void) {
            state.withLock { $0.whileOpening = body }
        }

        func open() async throws -> OpenedJournal {
            try await state.withLock { $0.whileOpening.take() }?()
            return try state.withLock { state throws(JournalError) in
                if let failure = state.failure { throw failure }
                if state.opened > 0 { state.journal = state.journal.crashed() }
                state.opened += 1
                return OpenedJournal(journal: state.journal, directory: nil)
            }
        }
    }

    private func submit(_ run: ServiceRun, topic: String = "t") async throws -> Receipt {
        let engine = try #require(run.engine)
        let token = try DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
        return await engine.producer.submit([PushNotification(token: token, topic: topic, payload: #"{"aps":{}}"#)])[0]
    }

    @Test("After a commit of which nobody knows, the journal is opened anew, and the same addresses serve")
    func reopens() async throws {
        let journals = Journals()
        let pauses = Monitor<[Duration]>([])
        let run = try makeRun(journals) { pause in pauses.withLock { $0.append(pause) } }
        async let outcome = run.run()
        #expect(await waitUntil { run.health.isReady })
        let addresses = run.addresses
        #expect(addresses["http2"]?.port ?? 0 > 0)
        if case .accepted = try await submit(run) {} else { Issue.record("not accepted") }
        journals.current.breakNextCommit(leaving: .all)
        if case .undetermined = try await submit(run) {} else { Issue.record("not undetermined") }
        #expect(await waitUntil { journals.opened == 2 && run.health.isReady })
        #expect(run.addresses == addresses)
        #expect(pauses.withLock { $0 } == [.seconds(1)])
        if case .accepted = try await submit(run) {} else { Issue.record("not accepted again") }
        await run.end()
        let ended = await outcome
        #expect(ended.error == nil && ended.reopened == 1 && ended.left == 3, "\(String(describing: ended.error))")
        #expect(!run.health.isReady)
    }

    @Test("A journal that can't be opened anew is tried so many times with growing pauses, and ends it")
    func givesUp() async throws {
        let journals = Journals()
        let pauses = Monitor<[Duration]>([])
        let run = try makeRun(journals) { pause in
            // Not told of one that somebody has cut short.
            try await Task.sleep(for: .milliseconds(20))
            pauses.withLock { $0.append(pause) }
        }
        async let outcome = run.run()
        #expect(await waitUntil { run.health.isReady })
        journals.fail(with: JournalError(.inputOutput, "the disk is gone"))
        journals.current.breakNextCommit(leaving: .nothing)
        _ = try await submit(run)
        let ended = await outcome
        #expect((ended.error as? JournalError)?.code == .inputOutput)
        #expect(pauses.withLock { $0 } == [1, 2, 4, 8, 16, 30].map { .seconds($0) })
    }

    @Test("A configuration that is taken up while the journal is opened is what the service then has")
    func reloadsWhileOpening() async throws {
        let journals = Journals()
        let run = try makeRun(journals) { _ in }
        journals.whileOpening {
            do { try write(routes: ["default", "added"]) } catch { Issue.record(error) }
            await run.reload()
        }
        async let outcome = run.run()
        #expect(await waitUntil { run.engine?.status().connections["added"] != nil })
        await run.end()
        #expect(await outcome.error == nil)
    }

    @Test("It ends while another process has the journal, too, as if all were well", .timeLimit(.minutes(1)))
    func endsWhileOpening() async throws {
        let journals = Journals()
        let isOpening = Monitor(false)
        let run = try makeRun(journals) { _ in }
        journals.whileOpening {
            isOpening.withLock { $0 = true }
            // As one who waits for an owner.
            try await Task.sleep(for: .seconds(3600))
        }
        async let outcome = run.run()
        #expect(await waitUntil { isOpening.withLock { $0 } })
        await run.end()
        let ended = await outcome
        #expect(ended.error == nil && ended.left == nil, "\(String(describing: ended.error))")
    }

    @Test("What waits in the lane of a route that is gone is warned of and counted, until the route is back")
    func unserved() async throws {
        let journals = Journals()
        let run = try makeRun(journals) { _ in }
        async let outcome = run.run()
        #expect(await waitUntil { run.health.isReady })
        try write(routes: ["default", "added"])
        await run.reload()
        if case .accepted = try await submit(run, topic: "added") {} else { Issue.record("not accepted") }
        let gauge = #"holdfast_unserved_entries{route="added",lane="considerate/at-least-once"} 1"#
        // That a route's service does not answer may be said already.
        #expect(
            !run.health.warnings.contains { $0.contains("is not delivered") } && !run.metrics.contains("unserved"),
            "\(run.health)")
        try write(routes: ["default"])
        await run.reload()
        let warning = "lane added/considerate/at-least-once holds 1 notification and is not delivered"
        #expect(
            run.health.isReady && run.health.warnings.count { $0.hasPrefix(warning) } == 1
                && run.health.warnings.count { $0.contains("is not delivered") } == 1, "\(run.health)")
        #expect(run.metrics.contains("\n\(gauge)\n"), "\(run.metrics)")
        try write(routes: ["default", "added"])
        await run.reload()
        #expect(!run.health.warnings.contains { $0.contains("is not delivered") } && !run.metrics.contains("unserved"))
        await run.end()
        #expect(await outcome.error == nil)
    }

    @Test("A journal that can't be opened at the start is said at once")
    func start() async throws {
        let journals = Journals()
        journals.fail(with: JournalError(.ownedByAnotherProcess, "process 1 has it"))
        let run = try makeRun(journals) { _ in }
        #expect((await run.run().error as? JournalError)?.code == .ownedByAnotherProcess)
    }

    @Test("It ends while it waits for the journal, too")
    func endsWhileWaiting() async throws {
        let journals = Journals()
        let isWaiting = Monitor(false)
        let run = try makeRun(journals) { _ in
            isWaiting.withLock { $0 = true }
            try await Task.sleep(for: .seconds(3600))
        }
        async let outcome = run.run()
        #expect(await waitUntil { run.health.isReady })
        journals.current.breakNextCommit(leaving: .nothing)
        _ = try await submit(run)
        #expect(await waitUntil { isWaiting.withLock { $0 } })
        #expect(run.health.obstacles.first?.contains("opened anew in 1 s") == true, "\(run.health)")
        await run.end()
        #expect(await outcome.error == nil)
    }

    @Test("A full journal makes it not ready, until something is taken again")
    func full() async throws {
        let watch = JournalWatch()
        #expect(watch.obstacle() == nil)
        watch.refused(1, reason: .badTopic)
        #expect(watch.obstacle() == nil)
        watch.refused(1, reason: .journalFull)
        #expect(watch.obstacle()?.contains("full") == true)
        #expect(watch.obstacle(at: .now + JournalWatch.memory) == nil)
        // A journal that says how it is needs no memory of what it refused.
        #expect(watch.obstacle(wantsRoom: false) == nil)
        watch.accepted(1)
        #expect(watch.obstacle() == nil)
        #expect(watch.obstacle(wantsRoom: true)?.contains("full") == true)
        watch.refused(1, reason: .journalFailed)
        #expect(watch.obstacle()?.contains("can't be written") == true)
        watch.refused(1, reason: .journalUnreachable)
        #expect(watch.obstacle()?.contains("can't be reached") == true)
        watch.reset()
        #expect(watch.obstacle() == nil)
    }

    @Test("Another owner, and a store that is away, speak against no journal, and may come for ever")
    func passing() {
        var schedule = ReopenSchedule()
        for code in [JournalError.Code.ownershipLost, .unreachable, .copyLost] {
            let failure = ServiceFailure(JournalError(code, "elsewhere"))
            #expect(failure.mayPass && !failure.counts)
            for _ in 0..<10 { #expect(schedule.failed(after: .zero, counts: failure.counts) == .seconds(1)) }
        }
        #expect(ServiceFailure(JournalError(.inputOutput, "broken")).counts)
        #expect(schedule.failures == 0)
    }

    @Test("Failures that are far apart are not in a row")
    func schedule() {
        var schedule = ReopenSchedule()
        for pause in [1, 2, 4, 8, 16, 30] { #expect(schedule.failed(after: .seconds(1)) == .seconds(pause)) }
        #expect(schedule.failed(after: .seconds(599)) == nil)
        #expect(schedule.failed(after: .seconds(600)) == .seconds(1))
        #expect(schedule.failed(after: .seconds(1)) == .seconds(2))
    }
}
