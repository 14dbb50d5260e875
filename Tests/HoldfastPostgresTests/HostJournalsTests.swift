import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB
import HoldfastPQ
import HoldfastPlatform
import HoldfastPostgres
import HoldfastTesting
import Scratch
import Synchronization
import TestPostgres
import Testing

@Suite("The journals of a host, on a real server", .timeLimit(.minutes(5)), .enabled(if: PostgresProgram.isWanted))
struct HostJournalsTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func refusal(of owned: OwnedJournal) async -> JournalError.Code? {
        await withCheckedContinuation { continuation in
            owned.journal.append(Submission(producer: ProducerID(rawValue: 1), acceptedAt: WallTime(milliseconds: 0))) {
                if case .failure(let error) = $0 {
                    continuation.resume(returning: error.code)
                } else {
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    @Test("A host finds its own journal again, and goes on with its copy")
    func again() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let first = try host.open()
        #expect(first.name == "web-1")
        try add("one", to: first)
        #expect(first.close())
        let second = try host.open()
        #expect(try second.id == first.id && lanes(second) == ["one"])
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: folder("own.journal")) == "\(first.id).journal")
        second.close()
    }

    @Test(
        "However long a journal had no owner, a clock that agrees with the database's is believed, and another one is not",
        arguments: [(0, true), (3600, false), (-3600, false)])
    func provenTime(ahead: Int, isProven: Bool) async throws {
        let folder = try TemporaryFolder()
        let system = EngineClock.system
        let clock = EngineClock(
            wall: { system.wall().advanced(by: .seconds(ahead)) }, monotonic: system.monotonic)
        let host = try Host(schema, in: folder, clock: clock)
        let first = try host.open()
        try add("one", to: first)
        let longAgo = system.wall().advanced(by: .seconds(-86_400))
        await withCheckedContinuation { continuation in
            first.journal.settle(SettlementBatch(earliestTime: longAgo)) { _ in continuation.resume() }
        }
        #expect(first.close())
        let before = system.wall()
        let second = try host.open()
        let time = try #require(second.journal.wallTimeAtOpen)
        #expect(isProven ? time >= before.advanced(by: .seconds(-60)) && time <= system.wall() : time == longAgo)
        second.close()
    }

    @Test("UIDs of two journals differ")
    func numbers() throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let opened = try zip(["a", "b"], folders).map { try Host(schema, $0, in: $1).open() }
        let next = try opened.map { try $0.journal.status().nextUID.rawValue }
        #expect(next == opened.map { UInt64($0.id) << 44 + 1 })
        for journal in opened { journal.close() }
    }

    @Test(
        "A lost or damaged copy, or one of an earlier boot, is made again from the log",
        arguments: ["lost", "damaged", "old"])
    func madeAgain(how: String) throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let first = try host.open()
        try add("one", to: first)
        first.close()
        let data = "\(first.directory)/entries/data.mdb"
        switch how {
        case "lost": try FileManager.default.removeItem(atPath: first.directory)
        case "old": try Data("epoch 1\nboot another\n".utf8).write(to: URL(fileURLWithPath: "\(first.directory)/copy"))
        default:
            let size = try #require(try FileManager.default.attributesOfItem(atPath: data)[.size] as? Int)
            try Data(repeating: 0x55, count: size).write(to: URL(fileURLWithPath: data))
        }
        let second = try host.open()
        #expect(try lanes(second) == ["one"])
        try add("two", to: second)
        second.close()
        let third = try host.open()
        #expect(try lanes(third) == ["one", "two"])
        third.close()
    }

    @Test(
        "A copy that is deleted under its host loses nothing, which is told, and is made again when the journal is opened anew",
        arguments: ["entries", "blacklist", "."])
    func deletedInUse(part: String) throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let first = try host.open()
        try add("one", to: first)
        let failures = Monitor<[JournalError]>([])
        try first.journal.observeCommits { commit in
            if let failure = commit.failure { failures.withLock { $0.append(failure) } }
        }
        try FileManager.default.removeItem(atPath: part == "." ? first.directory : "\(first.directory)/\(part)")
        #expect(try eventually { failures.withLock { !$0.isEmpty } })
        let failure = failures.withLock(\.first)
        let words = failure?.message ?? ""
        #expect(failure?.code == .copyLost, "\(words)")
        #expect(words.contains("What was accepted is in the database") && !words.contains("backup"), "\(words)")
        // Nobody knows what is left in it.
        #expect(!first.close())
        let second = try host.open()
        #expect(try second.id == first.id && lanes(second) == ["one"])
        second.close()
    }

    @Test("By how much a host's clock is ahead of the database's is known from the last look")
    func clockOffset() throws {
        let folder = try TemporaryFolder()
        let system = EngineClock.system
        let clock = EngineClock(
            wall: { system.wall().advanced(by: .seconds(7200)) }, monotonic: { system.monotonic() })
        let host = try Host(schema, in: folder, clock: clock)
        let own = try host.open()
        let watch = try FleetWatch(host.journals, mine: own.id)
        #expect(try eventually { watch.clockOffset != nil })
        let offset = watch.clockOffset ?? .zero
        #expect(offset > .seconds(7140) && offset < .seconds(7260), "\(offset)")
        watch.stop()
        own.close()
    }

    @Test(
        "A host without room for another copy takes no journal over, says what is missing, and goes on when there is room"
    )
    func noRoomToTakeOver() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let gone = try Host(schema, "gone", in: folders[0], times: .short)
        let owned = try gone.open()
        try add("one", to: owned)
        let other = try Host(schema, "other", in: folders[1], times: .short)
        let own = try other.open()
        let free = Monitor(12 << 20)
        let watch = try FleetWatch(other.journals, mine: own.id, available: { free.withLock { $0 } })
        defer { watch.stop() }
        try #require(try eventually { watch.journals.count == 2 })
        gone.clock.pause(true)
        #expect(try eventually { watch.wantOfRoom?.journal == "gone" })
        #expect(watch.wantOfRoom?.available == 12 << 20 && (watch.wantOfRoom?.needed ?? 0) > 96 << 20)
        free.withLock { $0 = 1 << 30 }
        var arrivals = watch.taken.makeAsyncIterator()
        let found = try #require(await arrivals.next())
        let next = try other.journals.open(found.journal, taken: found.ownership, OpeningStop())
        #expect(try lanes(next) == ["one"])
        gone.clock.pause(false)
        owned.close()
        next.close()
        own.close()
    }

    @Test("Hosts without room know of each other, until one has room again")
    func allFull() throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let hosts = [
            try Host(schema, "web-1", in: folders[0], times: .short),
            try Host(schema, "web-2", in: folders[1], times: .short),
        ]
        let owned = try hosts.map { try $0.open() }
        let ids = owned.map(\.id)
        let isSecondFull = Monitor(false)
        let watches = [
            try FleetWatch(hosts[0].journals, mine: ids[0], fullness: { (true, [ids[1]]) }),
            try FleetWatch(hosts[1].journals, mine: ids[1], fullness: { (isSecondFull.withLock { $0 }, [ids[0]]) }),
        ]
        #expect(try eventually { watches.allSatisfy { $0.journals.count == 2 } })
        #expect(watches[0].full.isEmpty)
        isSecondFull.withLock { $0 = true }
        #expect(try eventually { watches[0].full == [ids[1]] && watches[1].full == [ids[0]] })
        isSecondFull.withLock { $0 = false }
        #expect(try eventually { watches[0].full.isEmpty && watches[1].full.isEmpty })
        for watch in watches { watch.stop() }
        for one in owned { one.close() }
    }

    @Test("A copy that somebody removes while its journal is opened is made again")
    func removedWhileOpening() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let first = try host.open()
        try add("one", to: first)
        let directory = first.directory
        first.close()
        for _ in 0..<5 {
            let isOver = Monitor(false)
            let remover = Background {
                let end = ContinuousClock.now + .milliseconds(500)
                while ContinuousClock.now < end, !isOver.withLock({ $0 }) {
                    try? FileManager.default.removeItem(atPath: directory)
                    // A pace at which it strikes between any two steps of an opening.
                    Thread.sleep(forTimeInterval: 0.001)
                }
            }
            let opened = try host.open()
            isOver.withLock { $0 = true }
            try remover.value()
            // It may be removed behind the opening, and is lost then.
            opened.close()
        }
        let last = try host.open()
        #expect(try lanes(last) == ["one"])
        last.close()
    }

    @Test("A working copy is checked, backed up and compacted as any journal, and its host goes on with it")
    func verified() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let owned = try host.open()
        try add("one", to: owned)
        let directory = owned.directory
        owned.close()
        let report = try JournalVerification.run(directory: directory)
        #expect(report.damage.isEmpty, "\(report.damage)")
        let backup = folder("backup")
        _ = try JournalBackup.run(directory: directory, destination: backup)
        #expect(try JournalVerification.run(directory: backup).damage.isEmpty)
        _ = try JournalCompaction.run(directory: directory)
        let again = try host.open()
        #expect(try lanes(again) == ["one"])
        again.close()
    }

    @Test(
        "Where another host has the journal of its name, a host makes another, and two processes never share a directory"
    )
    func sameName() throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let first = try Host(schema, in: folders[0])
        let one = try first.open()
        let two = try Host(schema, in: folders[1]).open()
        #expect(one.name == "web-1" && two.name == "web-1#2")
        #expect(throws: JournalError.self) { try HostDirectory(folders[0].path) }
        one.close()
        two.close()
    }

    @Test(
        "A host that is gone is followed by another, which has all that was committed, and the former one writes nothing more"
    )
    func takenOver() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let gone = try Host(schema, "gone", in: folders[0], times: .short)
        let owned = try gone.open()
        try add("one", to: owned)
        let other = try Host(schema, "other", in: folders[1], times: .short)
        let own = try other.open()
        let watch = try FleetWatch(other.journals, mine: own.id)
        defer { watch.stop() }
        var arrivals = watch.taken.makeAsyncIterator()
        try #require(try eventually { watch.journals.count == 2 })
        gone.clock.pause(true)
        let found = try #require(await arrivals.next())
        #expect(found.journal.name == "gone" && found.journal.host == "gone")
        let next = try other.journals.open(found.journal, taken: found.ownership, OpeningStop())
        #expect(try lanes(next) == ["one"])
        gone.clock.pause(false)
        #expect(try eventually { owned.ending?.code == .ownershipLost })
        let end = try #require(owned.journal.handOutUntil)
        #expect(end < LeaseHost.now)
        #expect(throws: JournalError.self) { try add("two", to: owned) }
        #expect(await refusal(of: owned) == .ownershipLost)
        try add("three", to: next)
        #expect(try lanes(next) == ["one", "three"])
        owned.close()
        // Delivered, it is closed, and nobody takes it again.
        #expect(next.close())
        watch.leave(next.id)
        #expect(try eventually { watch.journals.first { $0.name == "gone" }?.isClosed == true })
        watch.stop()
        // Nothing else was taken.
        #expect(await arrivals.next() == nil)
        own.close()
        // Its host comes back, and accepts into it again.
        let back = try gone.open()
        #expect(try back.name == "gone" && lanes(back) == ["one", "three"])
        back.close()
    }

    @Test(
        "While the database is away, appends are refused and nothing is lost, and closing does not wait for it for ever"
    )
    func away() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder, port: proxy.port)
        let owned = try host.open()
        let isDone = Mutex(false)
        proxy.fail(.cutBefore("S"))
        proxy.cut()
        let lane = LaneKey(route: "one", urgency: .immediate, guarantee: .atLeastOnce)
        let writing = Background {
            _ = try owned.journal.openLane(lane)
            isDone.withLock { $0 = true }
        }
        #expect(try eventually { owned.refusal?.code == .unreachable })
        #expect(await refusal(of: owned) == .unreachable)
        #expect(owned.troubles.commits != nil)
        #expect(!isDone.withLock { $0 })
        proxy.fail(nil)
        try writing.value()
        #expect(owned.refusal == nil)
        #expect(try lanes(owned) == ["one"])
        proxy.fail(.cutBefore("S"))
        proxy.cut()
        let start = ContinuousClock.now
        owned.close()
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test("A full disk of the database is told as what it is, and not as a database that can't be reached")
    func full() throws {
        let folder = try TemporaryFolder()
        let owned = try Host(schema, in: folder).open()
        try schema.psql(
            """
            CREATE FUNCTION S.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device';
            END $$
            """)
        for slot in 0...1 {
            try schema.psql(
                "CREATE TRIGGER no_room BEFORE INSERT ON S.log_\(owned.id)_\(slot) FOR EACH ROW EXECUTE FUNCTION S.full()"
            )
        }
        let writing = Background { try add("one", to: owned) }
        #expect(try eventually { owned.refusal != nil })
        let refusal = try #require(owned.refusal)
        #expect(refusal.code == .unreachable && refusal.message.contains("the disk of the database is full"))
        #expect(!refusal.message.contains("can't be reached"), "\(refusal)")
        #expect(refusal.advice?.next.contains("make room on the disk of the database's server") == true)
        try schema.psql("DROP FUNCTION S.full() CASCADE")
        try writing.value()
        #expect(owned.refusal == nil)
        owned.close()
    }

    @Test("A host that has nothing to keep refuses appends, too, while its lease is not renewed")
    func idle() async throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder, times: .short, port: proxy.port)
        let owned = try host.open()
        #expect(owned.refusal == nil)
        proxy.fail(.cutBefore("S"))
        proxy.cut()
        #expect(try eventually { owned.refusal?.code == .unreachable })
        #expect(await refusal(of: owned) == .unreachable)
        proxy.fail(nil)
        #expect(try eventually { owned.refusal == nil })
        owned.close()
    }

    @Test("An opening waits for a database that is away, says why, and ends when it is told to")
    func waits() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        proxy.fail(.cutBefore("S"))
        let words = Mutex<[String]>([])
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder, port: proxy.port) { news in
            if case .away(let said) = news { words.withLock { $0.append(said.words) } }
        }
        let stop = try OpeningStop()
        let journals = host.journals
        let opening = Background { try journals.openOwn(stop) }
        #expect(try eventually { !words.withLock { $0.isEmpty } })
        stop.stop()
        #expect(throws: JournalError.self) { try opening.value() }
        proxy.fail(nil)
        let opened = try journals.openOwn(OpeningStop())
        #expect(opened.directory.hasPrefix(folder.path))
        opened.close()
    }

    @Test("A database without the schema, and one that does not let the host in, are errors that say what to do")
    func unusable() throws {
        let other = try OwnSchema(isMade: false)
        let error = #expect(throws: JournalError.self) { try Host(other, in: try TemporaryFolder()).open() }
        #expect(error?.message.contains("migrate the schema as its owner") == true)
    }

    @Test("A database that has lost commits gets them again from the copy of its last owner")
    func restored() throws {
        let folder = try TemporaryFolder()
        let news = Mutex<[String]>([])
        let host = try Host(schema, in: folder) { one in
            if case .restored(let name, let first, let last) = one {
                news.withLock { $0.append("\(name) \(first) \(last)") }
            }
        }
        let owned = try host.open()
        for lane in ["one", "two"] { try add(lane, to: owned) }
        owned.close()
        let last = try #require(UInt64(schema.psql("SELECT max(number) FROM S.log_\(owned.id)_0")))
        try schema.psql("DELETE FROM S.log_\(owned.id)_0 WHERE number > \(last - 2)")
        let next = try host.open()
        #expect(try next.name == "web-1" && lanes(next) == ["one", "two"])
        #expect(news.withLock { $0 } == ["web-1 \(last - 2) \(last)"])
        try add("three", to: next)
        // It can be made again without the copy.
        next.close()
        try FileManager.default.removeItem(atPath: next.directory)
        let third = try host.open()
        #expect(try lanes(third) == ["one", "two", "three"])
        third.close()
    }

    @Test("A database that has lost commits knows their notifications again, too, and nobody sends a repeat of them")
    func restoredIdentities() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let host = try Host(schema, in: folders[0])
        let owned = try host.open()
        let named = PushNotification(
            token: try DeviceToken("aa"), topic: "topic", payload: Array(#"{"aps":{}}"#.utf8), id: NotificationID())
        func submit(to owned: OwnedJournal) async throws -> UID? {
            let engine = try PushEngine(
                journal: owned.journal, routes: [Route(connector: InMemoryConnector(), topics: ["topic"])])
            return await engine.producer.submit([named])[0].uid
        }
        let uid = try await submit(to: owned)
        let last = try #require(UInt64(schema.psql("SELECT max(number) FROM S.log_\(owned.id)_0")))
        owned.close()
        try schema.psql("DELETE FROM S.log_\(owned.id)_0 WHERE number >= \(last)", "DELETE FROM S.identities")
        let next = try host.open()
        let other = try Host(schema, "web-2", in: folders[1]).open()
        #expect(try await submit(to: other) == uid && uid != nil)
        #expect(try other.journal.status().unconfirmed == 0)
        for journal in [next, other] { journal.close() }
    }

    @Test(
        "A journal of which the database has lost commits, and another host claims more, is not set free: its owner comes back"
    )
    func contradicted() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let owned = try host.open()
        for lane in ["one", "two"] { try add(lane, to: owned) }
        let last = try #require(UInt64(schema.psql("SELECT max(number) FROM S.log_\(owned.id)_0")))
        try schema.psql(
            "DELETE FROM S.log_\(owned.id)_0 WHERE number > \(last - 2)",
            "INSERT INTO S.claims SELECT \(owned.id), \(last + 1), incarnation, now() FROM S.fleet")
        #expect(throws: JournalError.self) { try add("three", to: owned) }
        #expect(owned.ending?.code == .contradicted)
        owned.close()
        // Free, another host would take it, without what was lost.
        #expect(
            try schema.psql("SELECT session_pid IS NULL, is_closed FROM S.journals WHERE id = \(owned.id)") == "f|f")
        try schema.psql("DELETE FROM S.claims")
        let next = try host.open()
        #expect(try next.name == "web-1" && lanes(next) == ["one", "two"])
        next.close()
    }

    @Test("An opening waits for somebody who has a lock of its copy for a moment")
    func reader() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let first = try host.open()
        first.close()
        let lock = try OpenFile(first.directory, .directory)
        #expect(try lock.tryLock(exclusive: false))
        let opening = Background { try host.open() }
        #expect(try eventually { try schema.psql("SELECT session_pid IS NOT NULL FROM S.journals") == "t" })
        lock.unlock()
        try opening.value().close()
    }

    /// As a process leaves it that ends between taking a journal and opening it.
    private func leaveUnopened(_ name: String) throws -> Int32 {
        let connection = try schema.asService()
        defer { connection.close() }
        let calls = OwnershipCalls(schema.name)
        let id = try calls.createJournal(name, connection, by: soon())
        let seen = try #require(try calls.look(at: id, connection, by: soon()))
        #expect(try calls.take(id, seen: seen, host: "gone", connection, by: soon()) != nil)
        return id
    }

    @Test("A journal whose host ended while it opened it is taken over, found empty and closed")
    func unopened() async throws {
        let folder = try TemporaryFolder()
        let other = try Host(schema, "other", in: folder, times: .short)
        let own = try other.open()
        let left = try leaveUnopened("gone")
        #expect(try schema.psql("SELECT is_closed FROM S.journals WHERE id = \(left)") == "t")
        let taken = try await takeOver("gone", by: other, mine: own)
        #expect(try taken.id == left && lanes(taken) == [])
        #expect(taken.close())
        #expect(try schema.psql("SELECT session_pid IS NULL, is_closed FROM S.journals WHERE id = \(left)") == "t|t")
        own.close()
    }

    @Test("A host of whose name many journals have owners takes one of those that are gone, in place of making another")
    func bounded() throws {
        let folders = try (0..<5).map { _ in try TemporaryFolder() }
        let living = try folders[0..<3].map { try Host(schema, "gone", in: $0, times: .short).open() }
        #expect(living.map(\.name) == ["gone", "gone#2", "gone#3"])
        let left = try leaveUnopened("gone#4")
        let next = try Host(schema, "gone", in: folders[3], times: .short).open()
        #expect(next.id == left)
        // Where all of them live, another is made.
        let fifth = try Host(schema, "gone", in: folders[4], times: .short).open()
        #expect(fifth.name == "gone#5")
        for journal in living + [next, fifth] { journal.close() }
    }

    @Test("A journal that the database takes for closed, as it had lost that somebody accepts into it, is open again")
    func openAgain() throws {
        let folder = try TemporaryFolder()
        let owned = try Host(schema, in: folder, upkeep: .milliseconds(50)).open()
        let isClosed = "SELECT is_closed FROM S.journals"
        #expect(try schema.psql(isClosed) == "f")
        try schema.psql("UPDATE S.journals SET is_closed = true", schema.restoring)
        #expect(try eventually { try schema.psql(isClosed) == "f" })
        // So is one that is written back, whoever does that.
        try add("one", to: owned)
        owned.close()
        try schema.psql(
            "UPDATE S.journals SET is_closed = true",
            "DELETE FROM S.log_\(owned.id)_0 WHERE number = (SELECT max(number) FROM S.log_\(owned.id)_0)")
        let (connection, calls) = (try schema.asService(), OwnershipCalls(schema.name))
        defer { connection.close() }
        let listed = try #require(try calls.list(connection, by: soon()).first)
        let epoch = try #require(
            try calls.take(listed.id, seen: listed.sighting, host: "web-1", connection, by: soon()))
        let host = try Host(schema, in: folder, upkeep: .seconds(600))
        let next = try host.journals.open(
            listed, taken: JournalLease.Taken(epoch: epoch, sent: LeaseHost.now), OpeningStop())
        #expect(try schema.psql(isClosed) == "f" && lanes(next) == ["one"])
        next.close()
    }

    @Test("In a new journal no outcomes are missing") func newHistory() async throws {
        let folder = try TemporaryFolder()
        let owned = try Host(schema, in: folder).open()
        let sender = try FleetSender(schema, owned)
        let standing = try OutcomeKeeping.standing(in: owned.journal)
        #expect(standing.isKept && standing.gaps.isEmpty)
        await sender.end()
    }

    @Test("A copy is written to by nobody but a host of the fleet")
    func copyAlone() throws {
        let folder = try TemporaryFolder()
        let host = try Host(schema, in: folder)
        let owned = try host.open()
        owned.close()
        let error = #expect(throws: JournalError.self) { try LMDBJournal(directory: owned.directory) }
        #expect(error?.code == .ownedByAnotherProcess && error?.message.contains("working copy") == true)
        // A check says the same, which opens nothing for writing.
        let reader = try JournalReader(directory: owned.directory)
        defer { reader.close() }
        let checked = #expect(throws: JournalError.self) { try reader.refuseCopy() }
        #expect(checked?.message == error?.message)
    }
}

@Suite("Which journals a host takes")
struct JournalChoiceTests {
    private func listed(
        _ id: Int32, _ name: String, epoch: Int64 = 1, beats: Int64 = 0, free: Bool = false, closed: Bool = false
    ) -> ListedJournal {
        ListedJournal(
            id: id, name: name, host: "h", sighting: Sighting(epoch: epoch, beats: beats, isFree: free),
            isClosed: closed)
    }

    @Test("Its own one, unless another owner lives in it; and at once where that was a process of this machine")
    func own() {
        func choice(_ journals: [ListedJournal], _ epoch: (Int32) -> Int64? = { _ in nil }) -> OwnJournalChoice {
            .choose(from: journals, host: "a", epoch: epoch)
        }
        #expect(choice([]) == .make(name: "a", beside: []))
        #expect(choice([listed(3, "a", free: true)]) == .take(3, name: "a", formerEpoch: nil))
        #expect(choice([listed(3, "a", epoch: 7)]) == .make(name: "a#2", beside: [3]))
        #expect(choice([listed(3, "a", epoch: 7)]) { _ in 7 } == .take(3, name: "a", formerEpoch: 7))
        #expect(choice([listed(3, "a", epoch: 8)]) { _ in 7 } == .make(name: "a#2", beside: [3]))
        let two = [listed(3, "a"), listed(4, "a#2", free: true, closed: true), listed(5, "b", free: true)]
        #expect(choice(two) == .take(4, name: "a#2", formerEpoch: nil))
        let ahead = [listed(3, "a", free: true, closed: true), listed(4, "a#2", free: true)]
        #expect(
            OwnJournalChoice.choose(from: ahead, host: "a", ahead: [4]) { _ in nil }
                == .take(4, name: "a#2", formerEpoch: nil))
    }

    @Test(
        "Of others, those that are free, and those unheard of for long enough in one session, but none that is closed or its own"
    )
    func others() {
        var machine = TakeoverMachine(LeaseTimes())
        func looked(_ journals: [ListedJournal], mine: Set<Int32> = [1], room: Int = 8, at second: Int) -> [Int32] {
            machine.looked(journals, mine: mine, room: room, at: .seconds(second)).map(\.id)
        }
        let (own, silent) = (listed(1, "own"), listed(2, "silent", beats: 5))
        #expect(
            looked([own, silent, listed(3, "free", free: true), listed(4, "closed", free: true, closed: true)], at: 0)
                == [3])
        #expect(looked([own, silent, listed(5, "lives", beats: 1)], at: 9) == [])
        #expect(looked([own, silent, listed(5, "lives", beats: 2)], at: 10) == [2])
        #expect(looked([own, silent], room: 0, at: 11) == [])
        machine.sessionEnded()
        #expect(looked([own, silent], at: 12) == [])
        #expect(looked([own, silent], at: 21) == [])
        #expect(looked([own, silent], at: 22) == [2])
    }

    @Test("A host that leaves them to others takes those that all have left for long, and those that it knows most of")
    func leftToOthers() {
        var machine = TakeoverMachine(LeaseTimes())
        func looked(_ journals: [ListedJournal], delay: Int = 60, at second: Int) -> [Int32] {
            let (delay, now) = (Duration.seconds(delay), Duration.seconds(second))
            return machine.looked(journals, mine: [1], ahead: [4], room: 8, delay: delay, at: now).map(\.id)
        }
        let (silent, free) = (listed(2, "silent", beats: 5), listed(3, "free", free: true))
        #expect(looked([silent, free, listed(4, "ahead", free: true)], at: 0) == [4])
        #expect(looked([silent, free], at: 59) == [])
        #expect(looked([silent, free], at: 60) == [3])
        // Another host had it meanwhile.
        #expect(looked([silent, listed(3, "free", beats: 1)], at: 61) == [])
        #expect(looked([silent, free], at: 62) == [])
        #expect(looked([silent, free], at: 118) == [])
        // The other one may be taken since it was seen to be silent for 10 s, which was at 59.
        #expect(looked([silent, free], at: 119) == [2])
        #expect(looked([silent, free], delay: 0, at: 120) == [2, 3])
    }

    @Test("One that its owner has not finished opening is as any other's, and is taken when that owner is gone")
    func opening() {
        var machine = TakeoverMachine(LeaseTimes())
        func looked(_ journals: [ListedJournal], at second: Int) -> [Int32] {
            machine.looked(journals, mine: [], room: 8, at: .seconds(second)).map(\.id)
        }
        let left = listed(2, "left", beats: 5, closed: true)
        #expect(looked([left, listed(3, "being opened", beats: 1, closed: true)], at: 0) == [])
        #expect(looked([left, listed(3, "being opened", beats: 2, closed: true)], at: 10) == [2])
    }
}
