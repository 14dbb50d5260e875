import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import Logging
import ServiceLifecycle
import UnixSignals

/// Stands for the sender that you have.
protocol AppSender: Sendable {
    func send(_ payload: [UInt8], to token: String, topic: String) async throws -> (status: Int, reason: String?)
}

func runPushes(with sender: any AppSender, journal directory: String) async throws {
    let journal = try LMDBJournal(directory: directory)
    defer { journal.close() }
    let connector = SenderConnector { notification in
        let answer = try await sender.send(
            notification.payload, to: notification.recipient.text, topic: notification.topic)
        return SendResult(apnsStatus: answer.status, reason: answer.reason)
    }
    let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])

    // On disk when this returns.
    let receipt = try await engine.producer.submit(
        PushNotification(
            token: DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"),
            topic: "com.example.app", payload: #"{"aps":{"alert":"Hi"}}"#))
    print("accepted: \(receipt)")

    let group = ServiceGroup(
        services: [engine], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "push"))
    try await group.run()
}
