import Foundation
import Holdfast
import Testing

@testable import HoldfastControl

/// Whatever a client does, it costs its connection, and nobody else's.
@Suite("Slow and hostile clients")
struct HostileClientTests {
    private let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)

    private func configuration(_ change: (inout ControlSocket.Configuration) -> Void) -> ControlSocket.Configuration {
        var configuration = ControlSocket.Configuration()
        change(&configuration)
        return configuration
    }

    @Test("Who waits for outcomes leaves places for orders, and frees its own when it goes or closes its side")
    func deadReaders() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        desk.state.withLock { $0.holdsWaits = true }
        try await serving(desk, in: folder) { _ in
            var clients: [RawClient] = []
            for _ in 0..<6 {
                let client = try await RawClient(folder)
                client.get("/v1/outcomes/list?after=0&wait=20s")
                clients.append(client)
            }
            #expect(await waitUntil { desk.state.withLock(\.waiting) == 6 })
            let other = try await RawClient(folder)
            other.get("/v1/outcomes/list?after=0&wait=20s")
            #expect(await waitUntil { other.statuses == [503] })
            #expect(await waitUntil { other.text.contains("6 requests wait for outcomes, and no more may") })
            other.post("/v1/lanes/pause", #"{"lane":"\#(lane)","reason":"night"}"#)
            #expect(await waitUntil { other.statuses == [503, 200] }, "\(other.text)")
            for client in clients.prefix(3) { client.close() }
            for client in clients.suffix(3) { client.sayNoMore() }
            #expect(await waitUntil(limit: .seconds(5)) { desk.state.withLock(\.waiting) == 0 })
            // Who only has said all that it says gets an answer.
            #expect(await waitUntil { clients.suffix(3).allSatisfy { $0.statuses == [200] } })
        }
    }

    @Test("What is no request is answered as an error, and the next request as if nothing had been")
    func answersNonsense() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            let nonsense: [(path: String, body: String)] =
                [
                    ("/v1/lanes/pause", "hello"), ("/v1/lanes/pause", ""), ("/v1/lanes/pause", "{}"),
                    ("/v1/lanes/pause", #"{"lane":7}"#), ("/v1/lanes/pause", #"{"lane":"r"}"#),
                    ("/v1/lanes/resume", #"{"lane":"r/no/at-least-once"}"#),
                    ("/v1/lanes/resume", #"{"lane":"r/immediate/at-most-twice"}"#),
                    ("/v1/entries/withdraw", #"{"uids":[-1]}"#), ("/v1/entries/withdraw", #"{"uids":"all"}"#),
                    ("/v1/blacklist/remove", #"{"keys":[{"token":"0"}]}"#),
                    ("/v1/rejections/retry", String(repeating: "[", count: 100_000)),
                    ("/v1/rejections/discard", "\u{0}"),
                ] + Self.noNotifications.map { ("/v1/notifications", #"{"notifications":[\#($0)]}"#) }
            for (path, body) in nonsense {
                let before = client.statuses.count
                client.post(path, body)
                #expect(await waitUntil { client.statuses.count > before })
            }
            #expect(client.statuses == nonsense.map { _ in 400 })
            #expect(client.text.components(separatedBy: #""code":"malformed""#).count == nonsense.count + 1)
            #expect(desk.state.withLock(\.asked) == [])
            client.get("/v1/status?what=is+this")
            #expect(await waitUntil { desk.state.withLock(\.asked) == ["status"] })
            #expect(client.isOpen)
        }
    }

    private static let noNotifications = [
        #"{"apns-topic":"t","payload-base64":"e30="}"#,
        #"{"token":"ab","channel":"AAAA","apns-topic":"t","payload-base64":"e30="}"#,
        #"{"token":"a","apns-topic":"t","payload-base64":"e30="}"#,
        #"{"channel":"?","apns-topic":"t","payload-base64":"e30="}"#,
        #"{"token":"ab","apns-topic":"t","payload-base64":"{}"}"#,
        #"{"token":"ab","apns-topic":"t"}"#,
        #"{"token":"ab","apns-topic":"t","payload-base64":"e30=","guarantee":"at-most-twice"}"#,
        #"{"token":"ab","apns-topic":"t","payload-base64":"e30=","apns-priority":300}"#,
        #"{"token":"ab","apns-topic":"t","payload-base64":"e30=","apns-priority":3}"#,
        #"{"token":"ab","apns-topic":"t","payload-base64":"e30=","apns-id":"7"}"#,
    ]

    @Test("More than a head or a body may have is refused, and its connection closed")
    func endless() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
            let head = try await RawClient(folder)
            head.say("GET /v1/status HTTP/1.1\r\nHost: holdfast\r\nX-Endless: ")
            for _ in 0..<20 { head.say(piece) }
            #expect(await waitUntil { !head.isOpen })
            #expect(head.statuses == [431])
            // One that says how long it is, and one that does not.
            let told = try await RawClient(folder)
            told.say(Self.order("Content-Length: \((8 << 20) + 1)"))
            #expect(await waitUntil { !told.isOpen })
            #expect(told.statuses == [413] && told.text.contains(#""code":"tooLarge""#))
            let chunked = try await RawClient(folder)
            chunked.say(Self.order("Transfer-Encoding: chunked"))
            for _ in 0..<160 {
                chunked.say("10000\r\n")
                chunked.say(piece)
                chunked.say("\r\n")
            }
            #expect(await waitUntil { !chunked.isOpen })
            #expect(chunked.statuses == [413])
            _ = try await RemoteDesk(journal: folder.path).status()
        }
        #expect(desk.state.withLock(\.asked) == ["status"])
    }

    private static func order(_ field: String) -> String {
        "POST /v1/entries/withdraw HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n\(field)\r\n\r\n"
    }

    @Test(
        "What is no HTTP is refused as that, and its connection closed",
        arguments: [
            "hello\r\n\r\n", "{\"request\":\"status\"}\n\n", "GET /v1/status HTTP/9.9\r\nHost: holdfast\r\n\r\n",
            "GET /v1/status HTTP/1.1\r\nHost holdfast\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
            "POST /v1/entries/withdraw HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n"
                + "Content-Length: -1\r\n\r\n{}",
            "POST /v1/entries/withdraw HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST /v1/entries/withdraw HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        ])
    func noHTTP(text: String) async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.say(text)
            #expect(await waitUntil { !client.isOpen })
            #expect(client.statuses.allSatisfy { $0 == 400 || $0 == 505 })
            _ = try await RemoteDesk(journal: folder.path)
        }
        #expect(desk.state.withLock(\.asked) == [])
    }

    @Test("Half a request, and then nothing: closed when its time is over; so is one who says nothing at all")
    func halfRequest() async throws {
        let folder = try Folder()
        let configuration = configuration { configuration in
            configuration.messageLimit = .milliseconds(100)
            configuration.silenceLimit = .milliseconds(200)
            configuration.idleLimit = .milliseconds(300)
        }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let start = ContinuousClock.now
            let half = try await RawClient(folder)
            let body = try await RawClient(folder)
            let silent = try await RawClient(folder)
            let idle = try await RawClient(folder)
            half.say("GET /v1/sta")
            body.say(Self.order("Content-Length: 100") + "{")
            idle.get("/v1")
            #expect(await waitUntil { !half.isOpen && !body.isOpen })
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            #expect(await waitUntil { !silent.isOpen })
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            #expect(await waitUntil { !idle.isOpen })
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(idle.statuses == [200])
        }
    }

    @Test("Requests in one go are answered in their order, each once the one before is done")
    func pipelined() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            for number in 0..<20 {
                client.post("/v1/lanes/pause", #"{"lane":"r/immediate/at-least-once","reason":"\#(number)"}"#)
                client.get("/v1/nothing")
            }
            #expect(await waitUntil { client.statuses.count == 40 })
            #expect(client.statuses == Array(repeating: [200, 404], count: 20).flatMap { $0 })
            #expect(client.isOpen)
        }
        #expect(desk.state.withLock(\.asked) == (0..<20).map { "pause \(lane) \($0)" })
    }

    @Test("Many who are connected and say nothing are let go, and an operator is served soon")
    func manyIdle() async throws {
        let folder = try Folder()
        let configuration = configuration { $0.silenceLimit = .milliseconds(300) }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            var idle: [RawClient] = []
            // The listener's queue is short: who comes too fast is turned away by the kernel, and comes again.
            for _ in 0..<4000 where idle.count < 40 {
                do {
                    idle.append(try await RawClient(folder))
                } catch {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            #expect(idle.count == 40)
            var found: RemoteDesk?
            for _ in 0..<500 where found == nil {
                found = try? await RemoteDesk(journal: folder.path)
                if found == nil { try await Task.sleep(for: .milliseconds(5)) }
            }
            _ = try await #require(found).status()
            #expect(await waitUntil { idle.allSatisfy { !$0.isOpen } })
        }
    }

    @Test("Orders of many at once are all done, and each is answered with its own")
    func concurrentOrders() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 1...6 {
                    tasks.addTask {
                        let remote = try await RemoteDesk(journal: folder.path)
                        for count in 1...50 {
                            let uids = (1...count).map { UID(UInt64($0 * number)) }
                            #expect(try await remote.discard(uids) == count)
                        }
                        await remote.close()
                    }
                }
                try await tasks.waitForAll()
            }
        }
        #expect(desk.state.withLock(\.asked).count == 300)
    }

    @Test("A byte now and then does not keep a request open for ever")
    func trickle() async throws {
        let folder = try Folder()
        let configuration = configuration { $0.messageLimit = .milliseconds(200) }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let client = try await RawClient(folder)
            client.say("GET /v1/")
            let wasClosed = await waitUntil(limit: .seconds(10)) {
                client.say("x")
                return !client.isOpen
            }
            #expect(wasClosed)
            #expect(client.statuses == [408] && client.text.contains("not complete after 200 ms"))
        }
    }

    @Test("A body that does not come is asked for no longer than a request may take, and the client is told")
    func bodyNeverComes() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let configuration = configuration { $0.messageLimit = .milliseconds(200) }
        try await serving(desk, in: folder, configuration: configuration) { _ in
            let client = try await RawClient(folder)
            client.say(Self.order("Content-Length: 36") + "{")
            #expect(await waitUntil { !client.isOpen })
            #expect(client.statuses == [408])
        }
        #expect(desk.state.withLock(\.asked) == [])
    }

    @Test("One who asks and never reads is closed, and others are served meanwhile")
    func neverReads() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        desk.state.withLock { state in
            state.status.lanes = Array(
                repeating: .init(key: lane, state: .running, unconfirmed: 0, deferred: 0, isServed: false), count: 9000)
        }
        let configuration = configuration { $0.messageLimit = .milliseconds(500) }
        try await serving(desk, in: folder, configuration: configuration) { _ in
            let client = try await RawClient(folder, reads: false)
            for _ in 0..<100 { client.get("/v1/status") }
            #expect(await waitUntil { desk.state.withLock { $0.asked.contains("status") } })
            let other = try await RemoteDesk(journal: folder.path)
            try await other.resume(lane)
            // A client that reads nothing does not see that it was closed; but it is asked no more.
            var asked = -1
            #expect(
                await waitUntil {
                    let now = desk.state.withLock { $0.asked.count }
                    defer { asked = now }
                    return now == asked
                })
            #expect(asked < 20)
            try await other.resume(lane)
            client.close()
        }
    }

    @Test("One connection too many is told so; when another has gone, the next is served")
    func tooMany() async throws {
        let folder = try Folder()
        let configuration = configuration { $0.greatestConnections = 2 }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let first = try await RemoteDesk(journal: folder.path)
            let second = try await RemoteDesk(journal: folder.path)
            var hasty = RemoteDesk.Configuration()
            hasty.connectLimit = .milliseconds(100)
            let error = await #expect(throws: ControlError.self) {
                try await RemoteDesk(journal: folder.path, configuration: hasty)
            }
            #expect(error?.code == .busy)
            _ = try await first.status()
            _ = try await second.status()
            await first.close()
            var third: RemoteDesk?
            for _ in 0..<200 where third == nil {
                third = try? await RemoteDesk(journal: folder.path)
                if third == nil { try await Task.sleep(for: .milliseconds(5)) }
            }
            _ = try await #require(third).status()
        }
    }

    @Test("Clients that come while all connections are open ask again, and all are served")
    func crowd() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let configuration = configuration { $0.greatestConnections = 2 }
        try await serving(desk, in: folder, configuration: configuration) { _ in
            try await withThrowingTaskGroup(of: Void.self) { clients in
                for _ in 0..<20 {
                    clients.addTask {
                        let client = try await RemoteDesk(journal: folder.path)
                        _ = try await client.status()
                        await client.close()
                    }
                }
                try await clients.waitForAll()
            }
        }
        #expect(desk.state.withLock { $0.asked.count } == 20)
    }

    @Test("Garbage from many at once, some of them in a hurry to leave, harms nobody")
    func garbage() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let configuration = configuration { $0.messageLimit = .seconds(1) }
        try await serving(desk, in: folder, configuration: configuration) { _ in
            let friend = try await RemoteDesk(journal: folder.path)
            var random = Xoshiro256(seed: 99)
            for round in 0..<60 {
                guard let client = try? await RawClient(folder) else { continue }
                for _ in 0..<Int.random(in: 1...20, using: &random) {
                    client.say((0..<200).map { _ in .random(in: 0...255, using: &random) })
                    if Bool.random(using: &random) { client.say("\r\n\r\n") }
                }
                if round % 3 == 0 { client.close() }
                _ = try await friend.status()
            }
            #expect(desk.state.withLock { Set($0.asked) } == ["status"])
        }
    }
}
