import Foundation
import Scratch
import Testing

/// The program as users run it, between Apple's service and Google's, as far as mocks are those.
@Suite("Both services in one file", .timeLimit(.minutes(5)))
struct FirebaseTests {
    private let folder: TemporaryFolder
    private let other: TemporaryFolder

    init() throws { (folder, other) = (try TemporaryFolder(), try TemporaryFolder()) }

    private func configure(_ apple: MockProcess, _ google: MockProcess, more: String = "") throws {
        try folder.write(
            "c.yaml",
            """
            journal: {path: \(folder("j"))}
            routes:
              - name: apple
                topics: [com.example.app]
                endpoint: \(apple.endpoint)
                trust: \(apple.trust)
              - name: google
                service: fcm
                project: mock-project
                endpoint: \(google.endpoint)
                trust: \(google.trust)
                service-account: \(other("certs/service-account.json"))
                id-key: holdfast-id
            \(more)
            """)
    }

    private static func guarantee(_ number: Int) -> String { number % 4 < 2 ? "at-least-once" : "at-most-once" }

    /// Lines for Apple and for Google by turns, and half of each with the other guarantee.
    private static func lines(_ ids: [String]) -> String {
        ids.enumerated().map { number, id in
            let rest = #""apns-id":"\#(id)","guarantee":"\#(guarantee(number))""#
            return number.isMultiple(of: 2)
                ? #"{"token":"\#(OperatorWorld.token(number))","payload":{"aps":{}},\#(rest)}"#
                : #"{"project":"mock-project","message":{"fid":"f\#(number)","data":{"n":"\#(number)"}},\#(rest)}"#
        }.joined(separator: "\n") + "\n"
    }

    /// How often each notification was taken, by its id.
    private static func taken(_ ledger: String, _ key: String) -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in ledger.split(separator: "\n") {
            guard let start = line.range(of: "\"\(key)\":\"") else { continue }
            counts[line[start.upperBound...].prefix { $0 != "\"" }.lowercased(), default: 0] += 1
        }
        return counts
    }

    @Test("After kill -9 both ledgers have every line, and those that may go once have gone once")
    func killed() async throws {
        let apple = try await MockProcess("--delay", "20", in: folder)
        let google = try await MockProcess("--delay", "20", kind: "fcm", in: other)
        try configure(apple, google)
        let ids = (0..<6000).map { _ in UUID().uuidString.lowercased() }
        try folder.write("in", Self.lines(ids))
        let arguments = ["send", folder("in"), "--config", folder("c.yaml"), "--json"]
        let first = try Tool.start(arguments)
        #expect(try await waitUntil { try apple.taken() > 300 && google.taken() > 300 || !first.isRunning })
        first.kill(SIGKILL)
        _ = try await first.result()
        let taken = (try apple.taken(), try google.taken())
        #expect(taken.0 < 3000 && taken.1 < 3000, "it was over before it was killed")
        let second = try await Tool.start(arguments + ["--resume"]).result(limit: .seconds(120))
        // 1: some of those that may go once are not known to have gone.
        #expect(second.status == 0 || second.status == 1, "\(second.errors)")
        let ledgers = Self.taken(try folder.read("ledger"), "apns-id").merging(
            Self.taken(try other.read("ledger"), "id"), uniquingKeysWith: +)
        var (lost, twice) = (0, 0)
        for (number, id) in ids.enumerated() {
            let count = ledgers[id] ?? 0
            if Self.guarantee(number) == "at-least-once" {
                if count == 0 { lost += 1 }
            } else if count > 1 {
                twice += 1
            }
        }
        #expect(lost == 0 && twice == 0)
        #expect(ledgers.count <= ids.count && Set(ledgers.keys).isSubset(of: ids))
        let status = try await Tool.run("journal", "status", "--json", "--config", folder("c.yaml"))
        let totals = try #require(try status.json()["totals"] as? [String: Int])
        #expect(totals["accepted"] == 6000 && totals["rejected"] ?? 0 == 0)
        let audit = try await Tool.run(
            "mock", "audit", folder("ledger"), other("ledger"), "--input", folder("in"), "--json")
        #expect(try audit.count("unexpected") == 0 && audit.count("damaged") == 0, "\(audit.output)")
    }

    @Test("A message by hand goes to each kind of target, by flags alone, which the journal remembers")
    func byHand() async throws {
        let google = try await MockProcess("--reject", "gone=UNREGISTERED", kind: "fcm", in: other)
        let flags = [
            "--endpoint", google.endpoint, "--trust", google.trust, "--service-account",
            other("certs/service-account.json"),
        ]
        let first = try await Tool.start(
            [
                "send", "--journal", folder("j"), "--fcm-fid", "cXy1", "--fcm-token", "t:APA91", "--fcm-topic", "news",
                "--fcm-condition", "'a' in topics", "--title", "Hi \"you\"", "--data", "k=v=w", "--json",
            ] + flags
        ).result()
        #expect(first.status == 0, "\(first.errors)")
        let targets = try other.read("ledger").split(separator: "\n").compactMap { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        }.compactMap { $0["target"] }
        #expect(Set(targets) == ["fid:cXy1", "token:t:APA91", "topic:news", "condition:'a' in topics"])
        let second = try await Tool.run(
            "send", "--journal", folder("j"), "--fcm-fid", "gone", "--payload", #"{"data":{"a":"b"}}"#)
        #expect(second.status == 1 && second.output.contains("UNREGISTERED"), "\(second.output)\(second.errors)")
        let check = try await Tool.run("blacklist", "check", "fid:gone", "--journal", folder("j"), "--json")
        #expect(check.status == 1 && check.output.contains("UNREGISTERED"), "\(check.output)")
        let find = try await Tool.run("journal", "find", "--journal", folder("j"), "--address", "fid:gone")
        #expect(find.output.contains("UNREGISTERED"), "\(find.output)\(find.errors)")
        for (arguments, words) in [
            (["--token", "ab", "--alert", "x"], "Missing --topic"),
            (["--fcm-fid", "a", "--badge", "1"], "is for Apple's services"), (["--data", "a=b"], "needs --fcm-fid"),
            (["--fcm-fid", "a", "--title", "x", "--topic", "t"], "is for Apple's services"),
            (["--fcm-fid", "a", "--title", "x", "--project", "other-project"], "contradicts"),
        ] {
            let result = try await Tool.start(["send", "--journal", folder("j")] + arguments).result()
            #expect(result.status != 0 && (result.errors + result.output).contains(words), "\(result.errors)")
        }
    }

    @Test("The doctor looks at the service account, the token endpoint and the service, and harms nobody")
    func doctor() async throws {
        let apple = try await MockProcess(in: folder)
        let google = try await MockProcess(kind: "fcm", in: other)
        try configure(apple, google)
        func findings() async throws -> [String: String] {
            let result = try await Tool.run("doctor", "--config", folder("c.yaml"), "--json")
            let all = try #require(try result.json()["findings"] as? [[String: Any]])
            return all.filter { $0["subject"] as? String == "google" }.reduce(into: [:]) { found, item in
                found[item["check"] as? String ?? ""] =
                    "\(item["level"] as? String ?? "") \(item["found"] as? String ?? "")"
            }
        }
        let good = try await findings()
        #expect(good["credentials"]?.contains("service account") == true, "\(good)")
        #expect(good["token"]?.hasPrefix("ok") == true, "\(good)")
        #expect(good["probe"]?.contains("only checks was answered") == true, "\(good)")
        #expect(try google.taken() == 0)
        _ = try await google.stop()
        let bad = try await findings()
        #expect(bad["addresses"]?.hasPrefix("fault") == true, "\(bad)")
    }
}
