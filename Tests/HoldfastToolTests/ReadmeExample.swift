import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal

func deliverPushes(with sender: MySender, journal directory: String) async throws {
    let journal = try LMDBJournal(directory: directory)
    defer { journal.close() }

    // Any existing sender becomes a connector. What it throws counts as "perhaps sent", never as lost.
    let connector = SenderConnector { notification in
        let answer = try await sender.send(
            notification.payload, to: notification.recipient.text, topic: notification.topic)
        return SendResult(apnsStatus: answer.status, reason: answer.reason)
    }
    let engine = try PushEngine(journal: journal, routes: [Route(connector: connector)])

    // On disk when this returns, whether or not the push service can be reached.
    let receipts = await engine.producer.submit([
        PushNotification(
            token: try DeviceToken("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"),
            topic: "com.example.app", payload: #"{"aps":{"alert":"Hi"}}"#)
    ])
    for case .refused(let refusal) in receipts { print("not taken: \(refusal)") }

    // A swift-service-lifecycle Service: delivers until shutdown, first of all what an earlier process left.
    try await engine.run()
}
