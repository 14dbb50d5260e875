import Foundation
import Holdfast
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastControl

/// A log that keeps the events of its lines.
private struct KeptEvents: LogHandler {
    let events: Monitor<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { events.withLock { $0.append("\(event.metadata?["event"] ?? "")") } }
}

@Suite("The socket in the journal's directory")
struct SocketTests {
    @Test("It is for its owner alone, and gone at the end")
    func modeAndEnd() async throws {
        let folder = try Folder()
        try await serving(StubDesk(), in: folder) { _ in
            #expect(folder.mode == 0o600)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["control.sock"])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("Nobody can find it before its mode is right")
    func neverOpen() async throws {
        let folder = try Folder()
        let (channel, file) = try await SocketFile.make(
            ControlPath(journal: folder.path),
            bind: { path in
                #expect(path.hasSuffix("/control.sock.new"))
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .bind(unixDomainSocketPath: path).get()
                #expect(!folder.hasSocket)
                return channel
            }, close: { _ in })
        #expect(folder.mode == 0o600)
        try file.remove()
        #expect(!folder.hasSocket)
        try await channel.close()
    }

    @Test("What a dead owner left behind is replaced")
    func replacesStale() async throws {
        let folder = try Folder()
        for name in ["control.sock", "control.sock.new"] {
            try await leaveStale(name, in: folder)
        }
        let error = await #expect(throws: ControlError.self) { try await RemoteDesk(journal: folder.path) }
        #expect(error?.code == .notServed)
        let desk = StubDesk()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            let socket = ControlSocket(desk: desk, journal: folder.path)
            tasks.addTask { try? await socket.run() }
            var found: RemoteDesk?
            for _ in 0..<1000 where found == nil {
                found = try? await RemoteDesk(journal: folder.path)
                if found == nil { try await Task.sleep(for: .milliseconds(5)) }
            }
            let remote = try #require(found)
            #expect(folder.mode == 0o600)
            _ = try await remote.status()
            await remote.close()
            tasks.cancelAll()
            try await tasks.waitForAll()
        }
        #expect(!folder.hasSocket)
    }

    @Test(
        "Removed or replaced by somebody, it is made again, is told once a minute, and whoever is connected stays so",
        .timeLimit(.minutes(1)))
    func madeAgain() async throws {
        let folder = try Folder()
        let events = Monitor<[String]>([])
        let logger = Logger(label: "test") { _ in KeptEvents(events: events) }
        var configuration = ControlSocket.Configuration()
        (configuration.lookInterval, configuration.pauseAfterFailure) = (.milliseconds(20), .milliseconds(20))
        try await serving(StubDesk(), in: folder, configuration: configuration, logger: logger) { _ in
            let early = try await RawClient(folder)
            early.get("/v1")
            #expect(await waitUntil { early.statuses == [200] })
            for isReplaced in [false, true] {
                try FileManager.default.removeItem(atPath: folder.socket)
                if isReplaced { try await leaveStale("control.sock", in: folder) }
                var found: RemoteDesk?
                for _ in 0..<1000 where found == nil {
                    found = try? await RemoteDesk(journal: folder.path)
                    if found == nil { try await Task.sleep(for: .milliseconds(5)) }
                }
                let remote = try #require(found)
                _ = try await remote.status()
                #expect(folder.mode == 0o600)
                await remote.close()
            }
            early.get("/v1")
            #expect(await waitUntil { early.statuses == [200, 200] })
            #expect(events.withLock(\.self) == ["socket-lost"])
        }
        #expect(!folder.hasSocket)
    }

    @Test("In a directory that took the place of its own it makes no socket")
    func movedAway() async throws {
        let folder = try Folder()
        var configuration = ControlSocket.Configuration()
        (configuration.lookInterval, configuration.pauseAfterFailure) = (.milliseconds(20), .milliseconds(20))
        try await serving(StubDesk(), in: folder, configuration: configuration) { _ in
            try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".moved")
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
            try await Task.sleep(for: .milliseconds(200))
            #expect(!folder.hasSocket)
        }
    }

    private func leaveStale(_ name: String, in folder: Folder) async throws {
        let directory = try OpenDirectory(folder.path)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(unixDomainSocketPath: directory.path(of: "other")).get()
        // NIO would remove what it was bound to.
        try FileManager.default.moveItem(atPath: folder.path + "/other", toPath: "\(folder.path)/\(name)")
        try await channel.close()
        #expect(FileManager.default.fileExists(atPath: "\(folder.path)/\(name)"))
    }

    @Test("It ends at any moment, whoever is just connecting", .timeLimit(.minutes(1)))
    func endsUnderLoad() async throws {
        for _ in 0..<50 {
            let folder = try Folder()
            let (ended, clients) = (Monitor(0), Monitor<[Task<Void, Never>]>([]))
            try await serving(StubDesk(), in: folder) { _ in
                for _ in 0..<4 {
                    let client = Task { await press(folder) { ended.withLock { $0 += 1 } } }
                    clients.withLock { $0.append(client) }
                }
                #expect(await waitUntil { ended.withLock { $0 } > 8 })
            }
            for client in clients.withLock({ $0 }) { await client.value }
        }
    }

    /// Connects and hangs up again and again, until nobody listens any more.
    ///
    /// - Parameter tell: called after each connection.
    private func press(_ folder: Folder, _ tell: () -> Void) async {
        while folder.hasSocket {
            do {
                let path = try OpenDirectory(folder.path)
                let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(unixDomainSocketPath: path.path(of: "control.sock")).get()
                try await client.close()
                tell()
            } catch {
                // The queue is full, or nobody listens any more.
                await Task.yield()
            }
        }
    }

    @Test("An owner whose queue of connections is full is asked again for as long as connecting may take")
    func fullQueue() async throws {
        let folder = try Folder()
        let path = folder.path + "/control.sock"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        let bound = unsafe Self.address(path) { unsafe bind(listener, $0, $1) }
        #expect(bound == 0 && listen(listener, 0) == 0)
        var waiting: [Int32] = []
        defer { for descriptor in waiting { close(descriptor) } }
        // Until the kernel takes no more.
        while waiting.count < 100 {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            waiting.append(descriptor)
            if unsafe Self.address(path, { unsafe connect(descriptor, $0, $1) }) != 0 { break }
        }
        #expect(waiting.count < 100)
        var configuration = RemoteDesk.Configuration()
        configuration.connectLimit = .milliseconds(400)
        let start = ContinuousClock.now
        let error = await #expect(throws: ControlError.self) {
            try await RemoteDesk(journal: folder.path, configuration: configuration)
        }
        #expect(error?.code == .busy || error?.code == .timedOut, "\(error as Any)")
        #expect(ContinuousClock.now - start >= .milliseconds(250))
    }

    private static func address(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: Array(path.utf8.prefix(100)))
        }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    @Test("A file that is no socket is nobody's to remove")
    func leavesFiles() async throws {
        let folder = try Folder()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.socket))
        let error = await #expect(throws: ControlError.self) {
            try await ControlSocket(desk: StubDesk(), journal: folder.path).run()
        }
        #expect(error?.code == .cannotListen && error?.message.contains(folder.socket) == true)
        #expect(try String(contentsOfFile: folder.socket, encoding: .utf8) == "mine")
    }

    @Test("A directory whose path is longer than a socket's address works")
    func longPath() async throws {
        let folder = try Folder(longName: true)
        #expect(folder.socket.utf8.count > 200)
        try await serving(StubDesk(), in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path + "/")
            _ = try await remote.status()
            #expect(folder.mode == 0o600)
        }
        #expect(!folder.hasSocket)
    }

    @Test("Without a directory, or without an owner, it says so")
    func nobody() async throws {
        let folder = try Folder()
        for path in [folder.path, folder.path + "/nothing"] {
            let error = await #expect(throws: ControlError.self) { try await RemoteDesk(journal: path) }
            #expect(error?.code == .notServed)
        }
        let error = await #expect(throws: ControlError.self) {
            try await ControlSocket(desk: StubDesk(), journal: folder.path + "/nothing").run()
        }
        #expect(error?.code == .cannotListen)
    }

    @Test("Processes of the same user may operate, and root's; others may not")
    func users() {
        #expect(PeerCredentials(process: 1, user: 1000).mayOperate(asUser: 1000))
        #expect(PeerCredentials(process: 1, user: 0).mayOperate(asUser: 1000))
        #expect(!PeerCredentials(process: 1, user: 1001).mayOperate(asUser: 1000))
        #expect(!PeerCredentials(process: 1, user: 1000).mayOperate(asUser: 0))
    }

    @Test("The kernel says who is at the other end")
    func credentials() async throws {
        let folder = try Folder()
        let accepted = Monitor<(any Channel)?>(nil)
        let path = ControlPath(journal: folder.path)
        let directory = try path.open()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.withLock { $0 = channel }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
        let client = try await RawClient(folder)
        #expect(await waitUntil { accepted.withLock { $0?.isActive == true } })
        let peer = try await PeerCredentials.read(try #require(accepted.withLock { $0 }))
        #expect(peer.process == UInt32(ProcessInfo.processInfo.processIdentifier))
        #expect(peer.user == geteuid())
        client.close()
        try await server.close()
    }
}
