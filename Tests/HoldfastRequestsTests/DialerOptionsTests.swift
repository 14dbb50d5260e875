import HoldfastPlatform
import HoldfastRequests
import HoldfastTesting
import NIOCore
import Testing

@testable import Holdfast
@testable import HoldfastTransport

/// TCP_NODELAY has the number of SO_DEBUG, which only root may set. At the wrong level it kept every user but root from
/// connecting, and tests that run as root did not see it.
@Suite("The options of a connection that is opened") struct DialerOptionsTests {
    @Test("Small writes leave at once, and nothing is asked for that only root may set", .timeLimit(.minutes(1)))
    func options() async throws {
        let server = try await PostServer.start { _ in 200 }
        let dialer = Dialer(
            endpoint: "http://127.0.0.1:\(server.port)", host: "127.0.0.1", port: server.port, tls: nil, trust: .system,
            deadline: .seconds(10))
        let channel = try await dialer.connect(on: Dialer.nextLoop()) {
            (channel, _, ready: EventLoopPromise<any Channel>) in
            ready.succeed(channel)
        }
        #expect(try await channel.getOption(.tcpOption(.tcp_nodelay)).get() == 1)
        #expect(try await channel.getOption(.socketOption(NIOBSDSocket.Option(rawValue: SO_DEBUG))).get() == 0)
        try await channel.close().get()
        try await server.stop()
    }
}
