import Holdfast
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastAPNs
@testable import HoldfastChannels

@Suite("A connection to the management service") struct ClosedChannelTests {
    @Test("Over a channel that has closed already it fails, and nothing stays alive", .timeLimit(.minutes(1)))
    func closed() async throws {
        try await ChannelService.run { service in
            let configuration = service.configuration
            let credentials = try Credentials(configuration, generation: 1)
            let address = try service.endpoint
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: address.host, port: address.port).get()
            try await channel.close().get()
            try await channel.closeFuture.get()
            weak var kept: EventLoopFuture<ManagementConnection>?
            func attempt() async throws {
                let ready = channel.eventLoop.makePromise(of: ManagementConnection.self)
                kept = ready.futureResult
                await #expect(throws: (any Error).self) {
                    try await channel.eventLoop.submit {
                        do {
                            try ManagementConnection(configuration, credentials, over: channel, ready: ready)
                        } catch {
                            ready.fail(error)
                            throw error
                        }
                    }.get()
                }
            }
            try await attempt()
            #expect(await Patience(.seconds(10)).wait { kept == nil })
        }
    }
}
