import Foundation
import Holdfast
import HoldfastPlatform
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import HoldfastControl

/// A directory in place of a journal's, that goes away with the test.
final class Folder: Sendable {
    let path: String

    init(longName: Bool = false) throws {
        let name = longName ? String(repeating: "long-", count: 40) : "journal"
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("holdfast-\(UUID().uuidString)").appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }

    var socket: String { path + "/control.sock" }
    var hasSocket: Bool { FileManager.default.fileExists(atPath: socket) }
    var mode: Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: socket)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }
}

/// Serves a desk while `body` runs, and ends in order.
func serving(
    _ desk: some OperatorDesk, in folder: Folder,
    configuration: ControlSocket.Configuration = ControlSocket.Configuration(),
    logger: Logger = Logger(label: "test"),
    mayOperate: @escaping @Sendable (PeerCredentials) -> Bool = { $0.mayOperate(asUser: geteuid()) },
    _ body: @Sendable (RunningSocket) async throws -> Void
) async throws {
    let socket = ControlSocket(
        desk: desk, journal: folder.path, configuration: configuration, logger: logger, mayOperate: mayOperate)
    let group = ServiceGroup(
        configuration: .init(services: [.init(service: socket)], logger: Logger(label: "test")))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await group.run() }
        try #require(await waitUntil { folder.hasSocket })
        do {
            try await body(RunningSocket(group: group))
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}

struct RunningSocket: Sendable {
    let group: ServiceGroup
}

/// Waits for a condition, looking every few milliseconds.
func waitUntil(limit: Duration = .seconds(20), _ condition: () throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        if ContinuousClock.now > deadline { return false }
        do { try await Task.sleep(for: .milliseconds(3)) } catch { return false }
    }
    return true
}

/// A client that says what it likes, and reads or does not.
final class RawClient: Sendable {
    private let channel: any Channel
    private let received = Monitor<[UInt8]>([])

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let received: Monitor<[UInt8]>
        init(_ received: Monitor<[UInt8]>) { self.received = received }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(unwrapInboundIn(data).readableBytesView)
            received.withLock { $0 += bytes }
        }
    }

    init(_ folder: Folder, reads: Bool = true) async throws {
        let received = received
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(received))
                }
            }
        let directory = try OpenDirectory(folder.path)
        channel = try await bootstrap.connect(unixDomainSocketPath: directory.path(of: ControlPath.name)).get()
        withExtendedLifetime(directory) {}
    }

    deinit { channel.close(promise: nil) }

    var isOpen: Bool { channel.isActive }
    var text: String { received.withLock { String(decoding: $0, as: UTF8.self) } }
    /// The status of each answer so far of which the head has come.
    var statuses: [Int] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
    }

    func say(_ text: String) { say(Array(text.utf8)) }

    func say(_ bytes: [UInt8]) { channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil) }

    /// An order as it is to be.
    func post(_ path: String, _ body: String) {
        say(
            "POST \(path) HTTP/1.1\r\nHost: holdfast\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    func get(_ path: String) { say("GET \(path) HTTP/1.1\r\nHost: holdfast\r\n\r\n") }

    /// Listens on.
    func sayNoMore() { channel.close(mode: .output, promise: nil) }

    func close() { channel.close(promise: nil) }
}
