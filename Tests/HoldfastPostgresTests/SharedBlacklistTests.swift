import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

@Suite("The blacklist that hosts share", .timeLimit(.minutes(2)), .enabled(if: PostgresProgram.isWanted))
struct SharedBlacklistTests {
    private let schema: OwnSchema

    init() throws { schema = try OwnSchema() }

    private func forbids(_ host: BlacklistHost, _ token: Int) throws -> Bool {
        try TokenBlacklist(storage: host.shared).isBlacklisted(.token(token), topic: "com.example") != nil
    }

    @Test("What one host learns holds on the others, with the same number, and as it was")
    func spreads() throws {
        let hosts = [try BlacklistHost(schema), try BlacklistHost(schema)]
        let endpoint = try ServiceAddress(.webPush, "https://push.example/\(String(repeating: "x", count: 1900))")
        var entries = [
            BlacklistEntry.of(1, endpoint: "https://api.push.apple.com", reason: .badDeviceToken, answered: UID(77)),
            .of(2, topic: String(repeating: "t", count: 9000)), .of(2, topic: nil, reason: Reason(rawValue: "\0é")),
            BlacklistEntry(
                recipient: .service(endpoint), reason: .unregistered, since: WallTime(milliseconds: -5),
                learntAt: WallTime(milliseconds: 7), route: "", expiresAt: WallTime(milliseconds: 99)),
        ]
        try hosts[0].add(entries).value()
        #expect(hosts[1].caughtUp())
        let found = try hosts[1].entries()
        #expect(try found == hosts[0].entries())
        #expect(hosts[1].shared.count == 3 && hosts[1].shared.lastNumber == 4)
        for index in entries.indices { entries[index].number = UInt64(index + 1) }
        #expect(Set(found) == Set(entries))
    }

    @Test("A removal and a lift hold everywhere, and say how many there were")
    func removals() throws {
        let hosts = [try BlacklistHost(schema), try BlacklistHost(schema)]
        try hosts[0].add(.of(1), .of(1, topic: "other"), .of(2), .of(3), .of(4, since: 5000))
        #expect(hosts[1].caughtUp())
        #expect(try hosts[1].shared.remove([.token(1)]) == 2)
        #expect(try hosts[1].shared.remove([BlacklistKey(.token(2), BlacklistScope(topic: "com.example"))]) == 1)
        #expect(try hosts[1].shared.remove([BlacklistKey(.token(2), BlacklistScope(topic: "com.example"))]) == 0)
        for token in 3...4 {
            try hosts[1].lift(
                TokenRegistration(
                    recipient: .token(token), topic: "com.example", endpoint: "e",
                    registeredAt: WallTime(milliseconds: 2000))
            ).value()
        }
        for host in hosts {
            #expect(host.caughtUp())
            #expect(try host.entries().map(\.unnumbered) == [.of(4, since: 5000)])
        }
        // Added again, it holds again.
        try hosts[0].add(.of(1))
        #expect(hosts[1].caughtUp())
        #expect(try forbids(hosts[1], 1))
    }

    @Test("A change holds at once on its own host, and is answered when the database has it")
    func atOnce() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try BlacklistHost(schema, port: proxy.port)
        try host.add(.of(2))
        proxy.fail(.cutBefore("share_blacklist"))
        let answered = host.add([.of(1)])
        let lifted = host.lift(
            TokenRegistration(
                recipient: .token(2), topic: "com.example", endpoint: "e", registeredAt: WallTime(milliseconds: 2000)))
        #expect(try forbids(host, 1) && !forbids(host, 2))
        #expect(try eventually { host.shared.status.trouble != nil })
        #expect(!answered.isGiven && !lifted.isGiven && host.shared.status.untoldCount == 2)
        #expect(try schema.psql("SELECT count(*) FROM S.blacklist WHERE entry IS NOT NULL") == "1")
        proxy.fail(nil)
        try answered.value()
        try lifted.value()
        #expect(try forbids(host, 1) && !forbids(host, 2))
        #expect(try schema.psql("SELECT count(*), max(number) FROM S.blacklist WHERE entry IS NOT NULL") == "1|2")
        #expect(try host.entries().map(\.unnumbered) == [.of(1)])
    }

    @Test("A batch finds what is pending beside what the copy has, by token and by address")
    func batches() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try BlacklistHost(schema, port: proxy.port)
        let address = Recipient.service(try ServiceAddress(.webPush, "https://push.example/1"))
        try host.add(.of(1), .of(2))
        proxy.fail(.cutBefore("share_blacklist"))
        let entry = BlacklistEntry(
            recipient: address, reason: .unregistered, since: WallTime(milliseconds: 1),
            learntAt: WallTime(milliseconds: 1),
            route: "web")
        let answered = host.add([.of(3), entry, .of(2, topic: "more")])
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        for (index, recipient) in [.token(2), address, .token(4), .token(3), .token(1)].enumerated() {
            let start = bytes.count
            var notification = PushNotification(token: DeviceToken(bytes: [1])!, topic: "com.example", payload: [])
            notification.recipient = recipient
            PackedNotification.append(
                notification, id: NotificationID(high: UInt64(index), low: 7), expiration: .at(1_900_000_000),
                acceptedAt: WallTime(milliseconds: 0), producer: "", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(UInt64(index + 1)), attempts: 0, range: start..<bytes.count))
        }
        let found = try host.shared.lookUp(EntryBatch(bytes: bytes, items: items))
        #expect(found.entries.map(\.index) == [0, 0, 1, 3, 4])
        #expect(found.entries.map(\.entry.topic) == ["com.example", "more", nil, "com.example", "com.example"])
        proxy.fail(nil)
        try answered.value()
    }

    @Test(
        "A call that is cut is made anew until it is known, and what another host did meanwhile is not undone",
        arguments: [
            FaultProxy.Fault.cutBefore("share_blacklist"), .cutShort("share_blacklist", by: 9),
            .cutAfter("share_blacklist"), .cutAnswer("share_blacklist", after: 3), .silentAfter("share_blacklist"),
        ])
    func cuts(fault: FaultProxy.Fault) throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try BlacklistHost(
            schema, port: proxy.port,
            answer: fault == .silentAfter("share_blacklist") ? .milliseconds(800) : .seconds(20))
        let other = try BlacklistHost(schema)
        try host.add(.of(1))
        proxy.fail(fault)
        let answered = host.add([.of(2)])
        #expect(try eventually { host.shared.status.trouble != nil })
        let isThere = fault != .cutBefore("share_blacklist") && fault != .cutShort("share_blacklist", by: 9)
        let removed = try other.shared.remove([.token(2)])
        #expect(removed == (isThere ? 1 : 0))
        proxy.fail(nil)
        try answered.value()
        #expect(host.caughtUp() && other.caughtUp())
        #expect(try host.entries() == other.entries())
        #expect(try host.entries().count == (isThere ? 1 : 2))
    }

    @Test("What was told is in the database at once; what was not is on no host after a kill")
    func killed() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        var host: BlacklistHost? = try BlacklistHost(schema, port: proxy.port)
        let folder = host!.folder
        try host!.add(.of(1))
        #expect(try schema.psql("SELECT count(*) FROM S.blacklist") == "1")
        proxy.fail(.cutBefore("share_blacklist"))
        let answered = host!.add([.of(2)])
        #expect(try forbids(host!, 2))
        host!.shared.close()
        let error = #expect(throws: JournalError.self) { try answered.value() }
        #expect(error?.code == .closed)
        host = nil
        proxy.fail(nil)
        let next = try BlacklistHost(schema, in: folder)
        #expect(next.caughtUp())
        #expect(try next.entries().map(\.unnumbered) == [.of(1)])
    }

    @Test("A removal that the database does not get is withdrawn, and says so")
    func withdrawn() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try BlacklistHost(schema, port: proxy.port, removal: .milliseconds(200))
        try host.add(.of(1))
        proxy.fail(.cutBefore("schema_version"))
        proxy.cut()
        #expect(try eventually { host.shared.status.trouble != nil })
        let error = #expect(throws: JournalError.self) { try host.shared.remove([.token(1)]) }
        #expect(error?.code == .unreachable)
        #expect(try forbids(host, 1))
        proxy.fail(nil)
        #expect(host.caughtUp())
        #expect(try forbids(host, 1) && host.entries().count == 1)
    }

    @Test("A host that comes back goes on from its place, and one that lost its copy begins anew")
    func comesBack() throws {
        var host: BlacklistHost? = try BlacklistHost(schema)
        let (folder, other) = (host!.folder, try BlacklistHost(schema))
        try other.add(.of(1), .of(2))
        #expect(host!.caughtUp())
        host = nil
        try other.add(.of(3))
        _ = try other.shared.remove([.token(1)])
        // By rows that it must not read again.
        try schema.psql("UPDATE S.blacklist SET entry = 'x' WHERE number = 2")
        host = try BlacklistHost(schema, in: folder)
        #expect(host!.caughtUp())
        #expect(try host!.entries().map(\.unnumbered) == [.of(2), .of(3)])
        host = nil
        try schema.psql(
            "UPDATE S.blacklist SET entry = (SELECT entry FROM S.blacklist WHERE number = 3) WHERE number = 2")
        let file = folder("blacklist/blacklist/data.mdb")
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        for index in bytes.indices.dropFirst(100) { bytes[index] = 0xAB }
        try Data(bytes).write(to: URL(filePath: file))
        host = try BlacklistHost(schema, in: folder)
        #expect(host!.caughtUp())
        #expect(try host!.entries() == other.entries())
    }

    @Test(
        "Pages of the feed end anywhere, and a copy that is filled beside writers has all of it", arguments: [1, 2, 7])
    func pages(size: Int) throws {
        let writer = try BlacklistHost(schema)
        try writer.add((0..<20).map { .of($0) }).value()
        let reader = try BlacklistHost(schema, pageRowCount: size)
        for round in 0..<10 { try writer.add(.of(round, since: 2000), .of(20 + round)) }
        #expect(reader.caughtUp())
        #expect(try reader.entries() == writer.entries())
        #expect(try reader.entries().count == 30)
    }

    @Test("A copy that is filled by pages counts as filled with the last of them, and one that follows stays so")
    func filled() throws {
        let writer = try BlacklistHost(schema)
        try writer.add((0..<20).map { .of($0) }).value()
        let folder = try TemporaryFolder()
        let copy = WatchedCopy(try LocalBlacklist.open(folder("blacklist")))
        let target = try PQTarget(schema.cluster.tcp("user=\(schema.service)"))
        let terms = SharedBlacklist.Terms(
            target: target, schema: schema.name, interval: .milliseconds(10), pageRowCount: 7)
        let shared = try SharedBlacklist(terms, copy: copy) { (ending) throws(JournalError) in throw ending }
        defer { shared.close() }
        #expect(shared.caughtUp(within: .seconds(20)))
        let marks = copy.marks
        #expect(
            marks.count == 3 && marks.prefix(2).allSatisfy { $0 == nil } && marks.last??.isEmpty == false, "\(marks)")
        try writer.add((20..<40).map { .of($0) }).value()
        #expect(shared.caughtUp(within: .seconds(20)))
        #expect(copy.count == 40 && copy.marks.dropFirst(3).allSatisfy { $0 != nil }, "\(copy.marks)")
    }

    @Test(
        "A copy of another database, or of one that was rolled back, is filled anew and loses what that does not have")
    func rolledBack() throws {
        let writer = try BlacklistHost(schema)
        try writer.add(.of(1), .of(2))
        let before = try schema.psql("SELECT last FROM S.blacklist_feed")
        try writer.add(.of(3))
        try writer.add(.of(1, since: 9000))
        let reader = try BlacklistHost(schema)
        #expect(reader.caughtUp())
        // As a standby that was promoted without the last two commits, and went on.
        try schema.psql(
            """
            DELETE FROM S.blacklist WHERE number > \(before);
            DELETE FROM S.blacklist_marks WHERE number > \(before);
            UPDATE S.blacklist_feed SET last = \(before)
            """)
        for host in [reader, writer] {
            #expect(host.caughtUp())
            #expect(try host.entries().map(\.unnumbered) == [.of(2)])
        }
        try writer.add(.of(5))
        try writer.add(.of(6))
        try writer.add(.of(7))
        #expect(reader.caughtUp())
        #expect(try reader.entries() == writer.entries())
        #expect(try reader.entries().map(\.unnumbered) == [.of(2), .of(5), .of(6), .of(7)])
    }

    @Test("What was removed long ago is forgotten, and a copy from before is filled anew")
    func trimmed() throws {
        var late: BlacklistHost? = try BlacklistHost(schema)
        let folder = late!.folder
        let writer = try BlacklistHost(schema)
        try writer.add(.of(1), .of(2))
        #expect(late!.caughtUp())
        late = nil
        _ = try writer.shared.remove([.token(1)])
        try writer.add(.of(3))
        #expect(try schema.psql("SELECT S.trim_blacklist(3600)") == "0")
        #expect(try schema.psql("SELECT S.trim_blacklist(-1)") == "1")
        #expect(try schema.psql("SELECT count(*) FROM S.blacklist_marks") == "1")
        late = try BlacklistHost(schema, in: folder)
        #expect(late!.caughtUp() && writer.caughtUp())
        #expect(try late!.entries().map(\.unnumbered) == [.of(2), .of(3)])
        #expect(try late!.entries() == writer.entries())
        // By the thread, too.
        _ = try writer.shared.remove([.token(2)])
        let trimmer = try BlacklistHost(schema, keeping: .seconds(-1), trimming: .milliseconds(1))
        #expect(try eventually { try schema.psql("SELECT count(*) FROM S.blacklist") == "1" })
        #expect(trimmer.caughtUp())
    }

    @Test("A commit under way keeps those behind it waiting, so that no reader passes a number that comes later")
    func order() throws {
        let reader = try BlacklistHost(schema)
        let (first, second) = (try schema.asService(), try schema.asService())
        let calls = BlacklistCalls(schema.name)
        try first.run([.begin], by: soon())
        _ = try calls.share([.add(.of(1))], writer: UUID(), turn: 1, first, by: soon())
        let isDone = Monitor(false)
        let other = Background {
            _ = try calls.share([.add(.of(2))], writer: UUID(), turn: 1, second, by: soon())
            isDone.withLock { $0 = true }
        }
        let waiting = "SELECT count(*) FROM pg_locks WHERE pid = \(second.facts.backend) AND NOT granted"
        #expect(try eventually { try isDone.withLock { $0 } || schema.psql(waiting) != "0" })
        #expect(reader.caughtUp())
        try first.run([.commit], by: soon())
        try other.value()
        #expect(reader.caughtUp())
        #expect(try reader.entries().map(\.unnumbered) == [.of(1), .of(2)])
    }

    enum Loss: CaseIterable {
        case directoryDeleted
        case directoryMoved
        case fileDeleted
        case fileInItsPlace
        case linkInItsPlace

        func happen(to host: BlacklistHost) throws {
            let (files, copy) = (FileManager.default, host.folder("blacklist"))
            switch self {
            case .directoryDeleted:
                // Not while another one is made in it.
                try files.moveItem(atPath: copy, toPath: host.folder("away"))
                try files.removeItem(atPath: host.folder("away"))
            case .directoryMoved: try files.moveItem(atPath: copy, toPath: host.folder("away"))
            case .fileDeleted: try files.removeItem(atPath: LocalBlacklist.dataFile(in: copy))
            case .fileInItsPlace:
                try replace(host) { files.createFile(atPath: copy, contents: Data("x".utf8)) }
            case .linkInItsPlace:
                try replace(host) {
                    do {
                        try files.createSymbolicLink(atPath: copy, withDestinationPath: "/nowhere")
                        return true
                    } catch {
                        return false
                    }
                }
            }
        }

        /// - Parameter make: puts something in the place of the copy; false where another copy was made there meanwhile.
        private func replace(_ host: BlacklistHost, _ make: () -> Bool) throws {
            var number = 0
            repeat {
                number += 1
                try FileManager.default.moveItem(
                    atPath: host.folder("blacklist"), toPath: host.folder("away-\(number)"))
            } while !make()
        }
    }

    @Test(
        "A copy that is deleted or moved under its host is made again, with all that it had", arguments: Loss.allCases)
    func lostCopy(_ loss: Loss) throws {
        let hosts = [try BlacklistHost(schema, pageRowCount: 2), try BlacklistHost(schema)]
        try hosts[0].add([.of(1), .of(2), .of(3)]).value()
        try loss.happen(to: hosts[0])
        // Nothing has to change for it to be noticed.
        #expect(try eventually { hosts[0].renewals.withLock { !$0.isEmpty } })
        #expect(hosts[0].caughtUp())
        let codes = hosts[0].renewals.withLock { $0.map(\.code) }
        #expect(Set(codes) == [.copyLost])
        #expect(FileManager.default.fileExists(atPath: LocalBlacklist.dataFile(in: hosts[0].folder("blacklist"))))
        try hosts[1].add(.of(4))
        try hosts[0].add(.of(5))
        for host in hosts {
            #expect(host.caughtUp() && host.shared.status.trouble?.words == nil)
            #expect(try host.entries().map(\.unnumbered) == (1...5).map { BlacklistEntry.of($0) })
        }
    }

    @Test("While another copy can't be filled, look-ups find what the one before had, and what is learnt here")
    func readMeanwhile() throws {
        let proxy = try FaultProxy(to: schema.cluster.port)
        let host = try BlacklistHost(schema, port: proxy.port)
        try host.add(.of(1))
        proxy.fail(.cutBefore("read_blacklist"))
        try Loss.directoryDeleted.happen(to: host)
        #expect(try eventually { host.renewals.withLock { !$0.isEmpty } && host.shared.status.trouble != nil })
        let added = host.add([.of(2)])
        for token in 1...2 { #expect(try forbids(host, token)) }
        #expect(host.shared.status.trouble?.isOfCopy == false)
        proxy.fail(nil)
        try added.value()
        #expect(host.caughtUp())
        #expect(try host.entries().map(\.unnumbered) == [.of(1), .of(2)])
    }

    @Test("Where no other copy can be made, the host's own disk is blamed, and look-ups go on until one can")
    func noOtherCopy() throws {
        let host = try BlacklistHost(schema)
        try host.add(.of(1))
        let copy = host.folder("blacklist")
        try FileManager.default.moveItem(atPath: copy, toPath: host.folder("away"))
        // A directory that is no copy, with a file where its blacklist is to be.
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: copy + "/blacklist"))
        #expect(try eventually { host.shared.status.trouble?.isOfCopy == true })
        #expect(host.shared.status.trouble?.words.contains(copy) == true)
        #expect(try forbids(host, 1))
        try FileManager.default.removeItem(atPath: copy)
        #expect(try eventually { host.shared.status.trouble == nil })
        #expect(host.caughtUp())
        #expect(try host.entries().map(\.unnumbered) == [.of(1)])
    }

    @Test("A recipient has at most 64 entries, the same on all hosts")
    func manyScopes() throws {
        let hosts = [try BlacklistHost(schema), try BlacklistHost(schema)]
        try hosts[0].add([.of(1, topic: nil)] + (0..<70).map { .of(1, topic: "t\($0)") }).value()
        var model = TokenEntries()
        var number: UInt64 = 0
        for topic in [nil] + (0..<70).map({ "t\($0)" }) { _ = model.add(.of(1, topic: topic), number: &number) }
        #expect(hosts[1].caughtUp())
        #expect(try hosts[1].entries().map(\.unnumbered) == model.entries.map(\.unnumbered))
        #expect(try hosts[0].entries() == hosts[1].entries())
    }

    @Test("A journal that is opened with it uses it, and its own stays empty")
    func inAJournal() throws {
        let host = try BlacklistHost(schema)
        var options = JournalOptions()
        options.durability = .process
        options.blacklist = host.shared
        let path = host.folder("a.journal")
        let journal = try LMDBJournal(directory: path, options: options)
        try host.add(.of(1))
        #expect(try journal.blacklist.entries(for: .token(1)).count == 1 && journal.status().blacklist == 1)
        // Who looks from outside sees the copy, in use and at rest.
        for isInUse in [true, false] {
            let reader = try JournalReader(directory: path, blacklist: host.folder("blacklist"))
            #expect(try reader.blacklistEntries(for: .token(1)).map(\.unnumbered) == [.of(1)])
            reader.close()
            guard isInUse else { break }
            journal.close()
            #expect(try forbids(host, 1))
            host.shared.close()
        }
        #expect(throws: JournalError.self) { try JournalReader(directory: path, blacklist: host.folder("nothing")) }
        options.blacklist = nil
        let alone = try LMDBJournal(directory: path, options: options)
        #expect(alone.blacklist.count == 0)
        alone.close()
    }
}
