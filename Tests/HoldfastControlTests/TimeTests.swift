import Foundation
import Holdfast
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import HoldfastControl

private enum Stranger {
    static func answer(_ body: String, _ status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

@Suite("Nobody waits for ever")
struct TimeTests {
    private let lane = LaneKey(route: "r", urgency: .immediate, guarantee: .atLeastOnce)

    private func patience(_ limit: Duration) -> RemoteDesk.Configuration {
        var configuration = RemoteDesk.Configuration()
        configuration.connectLimit = limit
        return configuration
    }

    @Test("An order that takes too long is given up by who gave it, and holds up nobody else")
    func answerDeadline() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        desk.state.withLock { $0.isHeld = true }
        try await serving(desk, in: folder) { _ in
            // Of the answers alone: to connect takes what it takes where other tests are at work.
            var configuration = RemoteDesk.Configuration()
            configuration.answerLimit = .seconds(1)
            let hasty = try await RemoteDesk(journal: folder.path, configuration: configuration)
            let error = await #expect(throws: ControlError.self) { try await hasty.resume(lane) }
            #expect(error?.code == .timedOut)
            desk.state.withLock { $0.isHeld = false }
            // The connection was given up with it; the next call makes another.
            try await hasty.resume(lane)
        }
    }

    @Test("A connection that the owner closed because it was idle is made again")
    func reconnects() async throws {
        let folder = try Folder()
        var configuration = ControlSocket.Configuration()
        configuration.idleLimit = .milliseconds(300)
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            for _ in 0..<3 {
                _ = try await remote.status()
                try await Task.sleep(for: .milliseconds(450))
            }
        }
    }

    @Test(
        "Someone who accepts and never answers, or speaks another version, is named as that",
        arguments: [
            (nil, ControlError.Code.timedOut),
            (Stranger.answer(#"{"holdfast":"control","version":99,"pid":1,"program":"newer"}"#), .otherVersion),
            (
                Stranger.answer(#"{"error":{"kind":"control","code":"unknownRequest","message":""}}"#, "404 Not Found"),
                .otherVersion
            ),
            (Stranger.answer("{}"), .malformed), (Stranger.answer("<html>", "500 No"), .malformed),
            ("220 mail.example.com\r\n", .malformed), ("HTTP/1.1 hello\r\n\r\n", .malformed),
            // As version 1 greeted, byte for byte.
            ("{\"holdfast\":\"control\",\"pid\":4711,\"program\":\"push-service\",\"version\":1}\n\n", .otherVersion),
        ])
    func strangeServers(words: String?, code: ControlError.Code) async throws {
        let folder = try Folder()
        let directory = try OpenDirectory(folder.path)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Greeter(words))
                }
            }
            .bind(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
        let limit = code == .timedOut ? Duration.milliseconds(200) : .seconds(20)
        let error = await #expect(throws: ControlError.self) {
            try await RemoteDesk(journal: folder.path, configuration: patience(limit))
        }
        #expect(error?.code == code, "\(error as Any)")
        try await server.close()
        withExtendedLifetime(directory) {}
    }

    @Test(
        "An owner that is killed in the middle of an answer has ended: nobody says that it speaks no HTTP",
        arguments: [20, 60, 90])
    func cutAnswers(length: Int) async throws {
        let folder = try Folder()
        let directory = try OpenDirectory(folder.path)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Cutter(length))
                }
            }
            .bind(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
        let desk = try await RemoteDesk(journal: folder.path)
        let read = await #expect(throws: ControlError.self) { try await desk.outcomeLog() }
        #expect(read?.code == .disconnected, "\(read as Any)")
        let order = await #expect(throws: ControlError.self) { try await desk.resumeAllTags() }
        #expect(order?.code == .disconnected, "\(order as Any)")
        await desk.close()
        try await server.close()
        withExtendedLifetime(directory) {}
    }

    /// Says who it is, and of the next answer only the beginning.
    private final class Cutter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let length: Int
        private var isKnown = false
        init(_ length: Int) { self.length = length }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let owner = Stranger.answer(#"{"holdfast":"control","version":2,"pid":1,"program":"holdfast"}"#)
            let answer = isKnown ? String(owner.prefix(length)) : owner
            let written = context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: answer)))
            if isKnown { written.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
            isKnown = true
        }
    }

    @Test("A tool of the first version, which waits for a greeting, gets one that says which version this is")
    func greetsVersionOne() async throws {
        let folder = try Folder()
        var configuration = ControlSocket.Configuration()
        configuration.silenceLimit = .milliseconds(50)
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            let client = try await RawClient(folder)
            #expect(await waitUntil { !client.isOpen })
            // What that tool read: a line of JSON with these four, and an empty one.
            struct Greeting: Codable {
                var holdfast: String
                var version: Int
                var pid: Int32
                var program: String
            }
            #expect(client.text.hasSuffix("}\n\n") && client.text.count { $0 == "\n" } == 2)
            let greeting = try JSONDecoder().decode(Greeting.self, from: Data(client.text.utf8))
            #expect(greeting.holdfast == "control" && greeting.version == 2)
        }
    }

    /// Says its words when it is asked, or when somebody connects where it is none of HTTP.
    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        let greeting: String?
        init(_ greeting: String?) { self.greeting = greeting }
        func channelActive(context: ChannelHandlerContext) {
            guard let greeting, !greeting.hasPrefix("HTTP") else { return }
            context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: greeting)), promise: nil)
        }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let greeting, greeting.hasPrefix("HTTP") else { return }
            context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: greeting)), promise: nil)
        }
    }

    @Test("At the end, what is under way is answered, who is idle is let go, and nobody new is let in")
    func orderlyEnd() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { running in
            let idle = try await RawClient(folder)
            let busy = try await RemoteDesk(journal: folder.path)
            idle.get("/v1")
            #expect(await waitUntil { idle.statuses == [200] })
            desk.state.withLock { $0.isHeld = true }
            async let order: Void = busy.resume(lane)
            #expect(await waitUntil { desk.state.withLock(\.begun) == 1 })
            await running.group.triggerGracefulShutdown()
            #expect(await waitUntil { !idle.isOpen })
            let late = await #expect(throws: ControlError.self) { try await RemoteDesk(journal: folder.path) }
            let code = try #require(late).code
            #expect([.notServed, .busy, .disconnected].contains(code))
            desk.state.withLock { $0.isHeld = false }
            try await order
        }
        #expect(!folder.hasSocket)
    }

    @Test("An order that takes longer than the end may is cut off, and the service ends all the same")
    func hardEnd() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        var configuration = ControlSocket.Configuration()
        configuration.shutdownLimit = .milliseconds(100)
        try await serving(desk, in: folder, configuration: configuration) { running in
            let busy = try await RemoteDesk(journal: folder.path)
            desk.state.withLock { $0.isHeld = true }
            async let order: Void = busy.resume(lane)
            #expect(await waitUntil { desk.state.withLock(\.begun) == 1 })
            await running.group.triggerGracefulShutdown()
            do {
                try await order
                Issue.record("an order that was cut off was answered")
            } catch {
                #expect((error as? ControlError)?.code == .disconnected)
            }
            desk.state.withLock { $0.isHeld = false }
        }
    }
}
