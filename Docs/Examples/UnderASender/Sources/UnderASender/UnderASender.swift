import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import NIOSSL

/// Puts ``PushSender`` under Holdfast: `UnderASender JOURNAL URL CA-FILE [TOKEN …]` journals a notification for each token,
/// delivers everything that the journal holds, and tells how each of them ended.
@main
struct UnderASender {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 3 else {
            print("usage: UnderASender JOURNAL URL CA-FILE [TOKEN …]")
            return
        }
        let (directory, service, authority) = (arguments[1], arguments[2], arguments[3])

        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(authority)
        let http = HTTPClient(configuration: configuration)
        let sender = PushSender(http: http, service: service)

        let journal = try LMDBJournal(directory: directory)
        defer { journal.close() }

        // All that the application's sender needs: a closure that sends one notification, and says what was answered.
        let connector = SenderConnector(name: service) { notification in
            let answer = try await sender.send(
                notification.payload, to: notification.recipient.text, topic: notification.topic,
                id: notification.id?.description ?? "")
            return SendResult(apnsStatus: answer.status, reason: answer.reason)
        }
        var settings = EngineConfiguration()
        settings.keepsOutcomes = true
        let engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: settings)

        // On disk when `submit` returns, whether or not the service can be reached.
        let receipts = await engine.producer.submit(
            try arguments.dropFirst(3).map {
                PushNotification(
                    token: try DeviceToken($0), topic: "com.example.app", payload: #"{"aps":{"alert":"Hi"}}"#,
                    pushType: .alert)
            })
        if !receipts.isEmpty { tell("accepted: \(receipts.count { $0.uid != nil })") }
        for case .refused(let refusal) in receipts { tell("refused: \(refusal)") }

        // A server would put the engine into its `ServiceGroup`. This program ends when nothing is left to do.
        let delivery = Task { try await engine.run() }
        let rest = await engine.untilIdle()
        delivery.cancel()
        try await delivery.value
        for try await batch in engine.outcomes {
            for outcome in batch.outcomes { tell("\(outcome.recipient): \(outcome.terminal)") }
            try await batch.taken()
        }
        if rest != .drained { tell("left in the journal: \(rest)") }
        try await http.shutdown()
    }

    /// Not `print`, which keeps lines back where nobody looks at a terminal.
    private static func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
