import Foundation
import Scratch
import Testing

/// `mock audit` with ledgers of the mock of FCM, and with files that are no ledgers of their input.
@Suite("The command mock audit", .timeLimit(.minutes(2))) struct AuditTests {
    private let folder: TemporaryFolder
    private let other: TemporaryFolder

    init() throws { (folder, other) = (try TemporaryFolder(), try TemporaryFolder()) }

    private static func id(_ number: Int) -> String { "00000000-0000-4000-8000-00000000000\(number)" }

    private static func message(_ number: Int, target: String = #""fid":"F""#) -> String {
        #"{"project":"p","apns-id":"\#(id(number))","message":{\#(target),"data":{"n":"1"}}}"# + "\n"
    }

    private static func taken(_ id: String, _ target: String = "fid:F") -> String {
        #"{"id":"\#(id)","target":"\#(target)","name":"projects/p/messages/0:1%mock"}"# + "\n"
    }

    private static func push(_ number: Int) -> String {
        #"{"token":"abcd","apns-id":"\#(id(number))","apns-topic":"t","payload":{}}"# + "\n"
    }

    private static func pushed(_ number: Int) -> String {
        #"{"apns-id":"\#(id(number))","token":"abcd","topic":"t"}"# + "\n"
    }

    private func audit(allowing duplicates: Int = 0) async throws -> Tool.Result {
        try await Tool.run(
            "mock", "audit", folder("ledger"), "--input", folder("in"), "--json", "--allow-duplicates", "\(duplicates)")
    }

    @Test("Messages to FCM are known by their ids: lost, taken again, not in the input")
    func ids() async throws {
        try folder.write(
            "in", Self.message(1) + Self.message(2) + Self.message(3, target: #""condition":"'a' in topics""#))
        try folder.write(
            "ledger",
            Self.taken(Self.id(2)) + Self.taken(Self.id(2)) + Self.taken(Self.id(4))
                + Self.taken(Self.id(3), "condition:'a' in topics"))
        let audit = try await audit()
        #expect(
            audit.output
                == #"{"accepted":2,"damaged":0,"duplicates":1,"expected":3,"lost":1,"taken":4,"unexpected":1}"# + "\n")
        #expect(audit.status == 1 && audit.errors.isEmpty, "\(audit.errors)")
        try folder.write("in", Self.message(2) + Self.message(4))
        try folder.write("ledger", Self.taken(Self.id(2)) + Self.taken(Self.id(2)) + Self.taken(Self.id(4)))
        #expect(try await self.audit(allowing: 1).status == 0)
    }

    @Test("Ids of the sender's own are matched by their target, and a lost message is not covered by another's id")
    func foreignIDs() async throws {
        try folder.write("in", Self.message(1) + Self.message(2) + Self.message(3, target: #""fid":"G""#))
        try folder.write("ledger", Self.taken("order-1") + Self.taken("order-1") + Self.taken(Self.id(4), "fid:G"))
        let audit = try await audit()
        #expect(try audit.count("accepted") == 1 && audit.count("lost") == 2 && audit.count("unexpected") == 1)
        #expect(try audit.count("duplicates") == 1)
    }

    @Test("Without an id-key messages are known by content and target: equal ones are no duplicates, and a loss shows")
    func contents() async throws {
        let mock = try await MockProcess("--project", "p", kind: "fcm", in: folder)
        try folder.write(
            "in",
            Self.message(1) + Self.message(2) + Self.message(3, target: #""android":{"ttl":"60s"},"topic":"news""#))
        let sent = try await Tool.run(
            "send", folder("in"), "--journal", folder("j"), "--endpoint", mock.endpoint, "--trust", mock.trust,
            "--service-account", folder("certs/service-account.json"))
        #expect(sent.status == 0, "\(sent.errors)")
        _ = try await mock.stop()
        let audit = try await audit()
        #expect(
            audit.output
                == #"{"accepted":3,"damaged":0,"duplicates":0,"expected":3,"lost":0,"taken":3,"unexpected":0}"# + "\n")
        #expect(audit.status == 0)
        let lines = try folder.read("ledger").split(separator: "\n").map { $0 + "\n" }
        let news = try #require(lines.first { $0.contains("topic:news") })
        try folder.write("ledger", lines.filter { $0 != news }.joined() + lines.filter { $0 != news }.joined())
        let lossy = try await self.audit()
        #expect(try lossy.count("lost") == 1 && lossy.count("duplicates") == 2, "\(lossy.output)")
    }

    @Test("Ledgers of both services are compared with one input")
    func both() async throws {
        try folder.write("in", Self.message(1) + Self.push(2))
        try folder.write("ledger", Self.taken(Self.id(1)))
        try other.write("ledger", Self.pushed(2))
        let audit = try await Tool.run(
            "mock", "audit", folder("ledger"), other("ledger"), "--input", folder("in"), "--json")
        #expect(try audit.status == 0 && audit.count("accepted") == 2, "\(audit.output)\(audit.errors)")
    }

    @Test(
        "A ledger of another service or of two, and a file that is no ledger, are refused, and what to give is said"
    )
    func wrongFiles() async throws {
        for (input, ledger, words) in [
            (Self.message(1), Self.pushed(1), ["no line of", "is for Apple", "give the ledger of the mock"]),
            (Self.push(1), Self.taken(Self.id(1)), ["holdfast mock fcm", "is for Firebase Cloud Messaging"]),
            (
                Self.message(1) + Self.push(2), Self.taken(Self.id(1)) + Self.pushed(2),
                ["line 2 of", "give each mock a ledger of its own"]
            ),
            (Self.message(1), Self.message(1), ["is no ledger: line 1", "--ledger"]),
        ] {
            try folder.write("in", input)
            try folder.write("ledger", ledger)
            let audit = try await audit()
            #expect(audit.status == 65 && audit.output.isEmpty, "\(audit.status) \(audit.output)")
            for word in words { #expect(audit.errors.contains(word), "\(audit.errors)") }
        }
    }

    @Test("Damaged lines count for nothing, and a last line without an end is told as that")
    func damaged() async throws {
        try folder.write("in", Self.message(1) + Self.message(2))
        try folder.write("ledger", Self.taken(Self.id(1)) + "{\"id\":\n" + Self.taken(Self.id(2)).dropLast())
        let audit = try await audit()
        #expect(
            audit.output
                == #"{"accepted":1,"damaged":2,"duplicates":0,"expected":2,"lost":1,"taken":1,"unexpected":0}"# + "\n")
        #expect(audit.status == 1)
        #expect(audit.errors.contains("the first is line 2"), "\(audit.errors)")
        #expect(audit.errors.contains("has no end") && audit.errors.contains("stop the mock"), "\(audit.errors)")
    }
}
