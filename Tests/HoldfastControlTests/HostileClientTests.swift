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

    @Test("What is no request is answered as an error, and the next request as if nothing had been")
    func answersNonsense() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            for nonsense in [
                "hello", "{}", #"{"request":7}"#, #"{"request":"fly"}"#, #"{"request":"pause"}"#,
                #"{"request":"pause","lane":{"route":"r","urgency":"no","guarantee":"at-least-once"}}"#,
                "{\"request\":\"withdraw\"}\n{\"uid\":-1}", "{\"request\":\"unblacklist\"}\n{\"token\":\"0\"}",
                String(repeating: "[", count: 100_000), "\u{0}",
            ] + Self.noNotifications.map({ "{\"request\":\"submit\"}\n" + $0 }) {
                let before = client.messageCount
                client.say(nonsense + "\n\n")
                #expect(await waitUntil { client.messageCount > max(before, 1) })
            }
            #expect(client.text.contains(#""code":"unknownRequest""#))
            #expect(
                client.text.components(separatedBy: #""code":"malformed""#).count == 10 + Self.noNotifications.count)
            #expect(desk.state.withLock(\.asked) == [])
            client.say("{\"request\":\"status\",\"what\":\"is this\"}\n\n")
            #expect(await waitUntil { desk.state.withLock(\.asked) == ["status"] })
            #expect(client.isOpen)
        }
    }

    private static let noNotifications = [
        #"{"topic":"t","payload":"e30=","guarantee":"at-least-once"}"#,
        #"{"token":"ab","channel":"AAAA","topic":"t","payload":"e30=","guarantee":"at-least-once"}"#,
        #"{"token":"a","topic":"t","payload":"e30=","guarantee":"at-least-once"}"#,
        #"{"channel":"?","topic":"t","payload":"e30=","guarantee":"at-least-once"}"#,
        #"{"token":"ab","topic":"t","payload":"{}","guarantee":"at-least-once"}"#,
        #"{"token":"ab","topic":"t","payload":"e30=","guarantee":"at-most-twice"}"#,
        #"{"token":"ab","topic":"t","payload":"e30=","guarantee":"at-least-once","priority":300}"#,
        #"{"token":"ab","topic":"t","payload":"e30=","guarantee":"at-least-once","priority":3}"#,
        #"{"token":"ab","topic":"t","payload":"e30=","guarantee":"at-least-once","id":"7"}"#,
    ]

    @Test("A line that never ends is refused when it is too long, and its connection closed")
    func endlessLine() async throws {
        let folder = try Folder()
        try await serving(StubDesk(), in: folder) { _ in
            let client = try await RawClient(folder)
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
            for _ in 0..<20 { client.say(piece) }
            #expect(await waitUntil { !client.isOpen })
            #expect(client.text.contains(#""code":"tooLarge""#))
            _ = try await RemoteDesk(journal: folder.path).status()
        }
    }

    @Test("Half a line, and then nothing: closed when its time is over; so is one who says nothing at all")
    func halfLine() async throws {
        let folder = try Folder()
        let configuration = configuration { configuration in
            configuration.messageLimit = .milliseconds(100)
            configuration.idleLimit = .milliseconds(300)
        }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let start = ContinuousClock.now
            let half = try await RawClient(folder)
            let silent = try await RawClient(folder)
            half.say(#"{"request":"sta"#)
            #expect(await waitUntil { !half.isOpen })
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            #expect(await waitUntil { !silent.isOpen })
            #expect(ContinuousClock.now - start >= .milliseconds(300))
        }
    }

    @Test("A byte now and then does not keep a request open for ever")
    func trickle() async throws {
        let folder = try Folder()
        let configuration = configuration { $0.messageLimit = .milliseconds(200) }
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let client = try await RawClient(folder)
            let wasClosed = await waitUntil(limit: .seconds(10)) {
                client.say("x")
                return !client.isOpen
            }
            #expect(wasClosed)
        }
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
            for _ in 0..<100 { client.say("{\"request\":\"status\"}\n\n") }
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
            let error = await #expect(throws: ControlError.self) { try await RemoteDesk(journal: folder.path) }
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
                    if Bool.random(using: &random) { client.say("\n\n") }
                }
                if round % 3 == 0 { client.close() }
                _ = try await friend.status()
            }
            #expect(desk.state.withLock { Set($0.asked) } == ["status"])
        }
    }
}
