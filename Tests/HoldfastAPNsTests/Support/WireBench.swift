import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTransport
import NIOCore
import Testing

@testable import Holdfast
@testable import HoldfastAPNs
@testable import HoldfastTesting

/// One connection of the connector, without an engine: what is handed to it, and what it says.
final class WireBench {
    let connection: any Connection
    let recorder: ConnectionRecorder
    private var nextTicket: UInt64 = 1

    init(_ connector: APNsConnector) async throws {
        let recorder = ConnectionRecorder(.perNotification)
        self.recorder = recorder
        connection = try await connector.connect(recorder.sink)
    }

    var now: ConnectionRecorder.State { recorder.now }

    /// Hands out so many, with tickets from 1 on.
    func handOut(_ count: Int) {
        handOut((0..<count).map { SampleNotification.numbered(Int(nextTicket) + $0) })
    }

    func handOut(_ notifications: [PushNotification]) {
        var bytes: [UInt8] = []
        var items: [EntryBatch.Item] = []
        var tickets: [Ticket] = []
        for notification in notifications {
            let start = bytes.count
            PackedNotification.append(
                notification, id: notification.id ?? SampleNotification.id(Int(nextTicket)),
                expiration: notification.expiration ?? SampleNotification.expiration,
                acceptedAt: SampleNotification.acceptedAt, producer: "default", to: &bytes)
            items.append(EntryBatch.Item(uid: UID(nextTicket), attempts: 0, range: start..<bytes.count))
            tickets.append(Ticket(rawValue: nextTicket))
            nextTicket += 1
        }
        recorder.handingOut(tickets)
        connection.send(HandOut(entries: EntryBatch(bytes: bytes, items: items), tickets: tickets))
    }

    /// - Returns: whether it came about within ten seconds.
    func until(_ condition: @escaping (ConnectionRecorder.State) -> Bool) async -> Bool {
        let recorder = recorder
        return await Patience(.seconds(10)).wait(for: { condition(recorder.now) })
    }

    /// All that was handed out is answered.
    func untilAnswered() async -> Bool { await until { $0.unanswered.isEmpty } }

    func result(_ ticket: UInt64) -> SendResult? { now.answers[Ticket(rawValue: ticket)] }

    /// Closes the connection, and looks at what must never be.
    func finish() async {
        if now.end == nil { connection.close(deadline: .zero) }
        #expect(await until { $0.end != nil })
        #expect(now.violations == [])
    }
}

extension APNsConnector.Configuration {
    /// For a mock on loopback.
    ///
    /// - Parameter host: an address or a name that its certificate has.
    init(_ mock: MockAPNsServer, host: String = "127.0.0.1") throws {
        self.init(
            endpoint: try APNsEndpoint("https://\(host):\(mock.port)"), trust: .file(mock.certificateAuthorityFile))
    }

    /// With the provider tokens that the mock's key signs.
    mutating func sign(for mock: MockAPNsServer) throws {
        let names = MockAPNsConfiguration()
        signingKey = try APNsSigningKey(file: mock.providerKeyFile, keyID: names.keyID, teamID: names.teamID)
    }
}

/// A resolver that answers what a test says, whatever it is asked; and counts.
final class StubResolver: AddressResolver {
    private let state: Monitor<(addresses: [(String, Int)], count: Int)>

    init(_ addresses: [(String, Int)]) { state = Monitor((addresses, 0)) }

    var count: Int { state.withLock { $0.count } }

    func answer(_ addresses: [(String, Int)]) { state.withLock { $0.addresses = addresses } }

    func addresses(of host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let addresses = state.withLock { state in
            state.count += 1
            return state.addresses
        }
        return loop.makeCompletedFuture { try addresses.map { try SocketAddress(ipAddress: $0.0, port: $0.1) } }
    }
}

/// What a connector tells the operators.
final class NoticeBoard: ConnectorHost.Services {
    private let notices = Monitor<[ConnectorNotice]>([])

    var all: [ConnectorNotice] { notices.withLock { $0 } }
    var host: ConnectorHost { ConnectorHost(route: "default", services: self) }

    func note(_ name: String) -> [UInt8]? { nil }
    func setNote(_ name: String, to value: [UInt8]?) {}
    func credentialsChanged() {}
    func report(_ notice: ConnectorNotice) { notices.withLock { $0.append(notice) } }
}
