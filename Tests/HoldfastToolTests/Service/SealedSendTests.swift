import Foundation
import Holdfast
import Scratch
import Testing

/// `send` beside a service whose journal's key systemd gave to it alone.
@Suite("Sending beside a service with a sealed journal, without its key", .serialized) struct SealedSendTests {
    private static let refused = String(repeating: "e", count: 64)
    private let world: ServiceWorld

    init() async throws {
        world = try await ServiceWorld(mockFlags: ["--reject", "\(Self.refused)=Unregistered"])
        try FileManager.default.createDirectory(atPath: world.folder("credentials"), withIntermediateDirectories: true)
        let made = try await Tool.run("journal", "key", "new", world.folder("credentials/journal.key"))
        try #require(made.status == 0, "\(made)")
        try world.writeConfiguration(journal: ", key-file: $CREDENTIALS_DIRECTORY/journal.key")
        try await world.serve(environment: ["CREDENTIALS_DIRECTORY": world.folder("credentials")])
    }

    private static func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// With the service's configuration, and nothing of its environment.
    private func start(_ words: String...) throws -> RunningTool {
        try Tool.start(words + ["--config", world.folder("holdfast.yaml")])
    }

    private func byHand(_ token: String, _ more: String...) throws -> RunningTool {
        try Tool.start(
            [
                "send", "--token", token, "--topic", ServiceWorld.topic, "--alert", "Hi", "--config",
                world.folder("holdfast.yaml"),
            ] + more)
    }

    private func notification(_ result: Tool.Result) throws -> [String: Any] {
        try #require((try result.json()["notifications"] as? [[String: Any]])?.first, "\(result)")
    }

    private func stopped() async throws {
        #expect(try await world.stop().status == 0)
        let found = try await start("lanes", "list").result()
        #expect(found.status == 78 && found.errors.contains("is sealed with key "), "the key was at hand: \(found)")
    }

    @Test("One by hand is told as with the key: its end, the service's words for a refusal, and what it waits for")
    func byHand() async throws {
        let sent = try await byHand(Self.token(1)).result()
        #expect(sent.status == 0 && sent.output.contains("0000…0001  confirmed  apns-id "), "\(sent)")
        let once = try await byHand(Self.token(2), "--expiration", "0").result()
        #expect(once.status == 0 && once.output.contains("confirmed"), "\(once)")
        let rejected = try await byHand(Self.refused, "--json").result()
        let report = try notification(rejected)
        #expect(rejected.status == 1 && report["reason"] as? String == "Unregistered", "\(rejected)")
        #expect(report["status"] as? Int == 410 && report["timestamp"] != nil, "\(rejected)")
        let again = try await byHand(Self.refused).result()
        #expect(again.status == 65 && again.output.contains("Blacklisted"), "\(again)")

        #expect(try await start("lanes", "pause", "--all", "--reason", "incident").result().status == 0)
        let waiting = try byHand(Self.token(3))
        #expect(try await waitUntil { try waiting.errors.contains("incident") })
        #expect(waiting.isRunning)
        #expect(try await start("lanes", "resume", "--all").result().status == 0)
        let resumed = try await waiting.result()
        #expect(resumed.status == 0 && resumed.output.contains("confirmed"), "\(resumed)")
        try await stopped()
    }

    @Test("A file of both guarantees is taken once, and its report says of each line what became of it")
    func file() async throws {
        let lines = (1...600).map { number in
            let token = number == 77 || number == 78 ? Self.refused : Self.token(number)
            let guarantee = number.isMultiple(of: 2) ? "at-most-once" : "at-least-once"
            return
                #"{"token":"\#(token)","apns-topic":"\#(ServiceWorld.topic)","payload":{},"guarantee":"\#(guarantee)"}"#
        }
        try world.folder.write("in.ndjson", lines.joined(separator: "\n") + "\n")
        let arguments = ["send", world.folder("in.ndjson"), "--report", world.folder("report"), "--json"]
        let sent = try await Tool.start(arguments + ["--config", world.folder("holdfast.yaml")]).result()
        #expect(sent.status == 1, "\(sent)")
        #expect(try sent.count("confirmed") == 598 && sent.count("accepted") == 600, "\(sent)")
        let told = try world.folder.read("report").split(separator: "\n").map { text in
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        #expect(told.count == 600 && told.count { $0["outcome"] as? String == "confirmed" } == 598)
        let rejected = told.filter { $0["outcome"] as? String == "rejected" }
        #expect(rejected.contains { $0["reason"] as? String == "Unregistered" && $0["status"] as? Int == 410 })
        // The second line of the token goes out, or finds what the answer to the first has put on the blacklist.
        let reasons = Set(rejected.map { $0["reason"] as? String })
        #expect(reasons.isSubset(of: ["Unregistered", "Blacklisted"]), "\(rejected)")
        let again = try await start("send", world.folder("in.ndjson"), "--resume").result()
        #expect(again.status == 0 && again.errors.contains("all of its 600 lines were taken before"), "\(again)")
        #expect(try world.mock.taken() == 598)
        try await stopped()
    }

    @Test("When the service ends, what it took is its own, and it is said that nobody can tell without the key")
    func ended() async throws {
        #expect(try await start("lanes", "pause", "--all", "--reason", "incident").result().status == 0)
        let waiting = try byHand(Self.token(3))
        #expect(try await waitUntil { try waiting.errors.contains("incident") })
        try await stopped()
        let left = try await waiting.result()
        #expect(left.status == 75 && left.output.contains("unconfirmed"), "\(left)")
        #expect(
            left.errors.contains("has ended") && left.errors.contains("HOLDFAST_JOURNAL_KEY_FILE"), "\(left.errors)")
    }
}
