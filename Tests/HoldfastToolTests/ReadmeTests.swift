import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLegacyAPNs
import Scratch
import Testing

@Suite("The README")
struct ReadmeTests {
    @Test("Its example compiles and delivers")
    func example() async throws {
        let folder = try TemporaryFolder()
        let sender = MySender()
        let run = Task { try await deliverPushes(with: sender, journal: folder("push.journal")) }
        let isDelivered = await waitUntil { sender.sent.withLock { $0.count } == 1 }
        #expect(isDelivered)
        // Cancelled, it ends in order: what was answered is settled.
        run.cancel()
        _ = await run.result
        let status = try await Tool.run("journal", "status", "--journal", folder("push.journal"), "--json")
        #expect(try status.count("unconfirmed") == 0, "\(status.output) \(status.errors)")
        // It is an application's own, and the tool says so.
        let recover = try await Tool.run("recover", "--journal", folder("push.journal"))
        #expect(recover.status == 78)
        #expect(recover.errors.contains("or of an application with a sender of its own"))
    }

    @Test("Its example is quoted to the letter")
    func quotesExample() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let example = try String(
            contentsOf: root.appendingPathComponent("Tests/HoldfastToolTests/ReadmeExample.swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(example)```\n"))
    }

    @Test(
        "The example of Docs/Guide/Library.md for the binary protocol is quoted to the letter, compiles, delivers and reads feedback"
    )
    func legacyExample() async throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: tests.appendingPathComponent("../../Docs/Guide/Library.md"), encoding: .utf8)
        let example = try String(contentsOf: tests.appendingPathComponent("LegacyExample.swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)```\n"))

        let folder = try TemporaryFolder()
        let mock = try await MockProcess("--client-certificate", kind: "binary", in: folder)
        let feedback = try await MockProcess("--tuple", "abcd=16", "--client-certificate", kind: "feedback", in: folder)
        try folder.write("in", BadInputTests.line(1))
        let queued = try await Tool.run(
            "send", folder("in"), "--queue-only", "--journal", folder("j"), "--endpoint", "binary+tls://h")
        #expect(queued.status == 0, "\(queued.errors)")
        let run = Task {
            try await deliverOverBinaryProtocol(
                to: "binary+tls://127.0.0.1:\(mock.port)", feedback: "feedback+tls://127.0.0.1:\(feedback.port)",
                as: .pem(certificates: folder("certs/client.pem"), key: folder("certs/client.key")),
                trusting: .file(mock.trust), journal: folder("j"))
        }
        // Looking into a journal at rest keeps its owner out for a moment: from here on it is in use.
        #expect(try await waitUntil { try mock.taken() == 1 })
        let isDone = try await waitUntil {
            let status = try JournalReader(directory: folder("j"))
            defer { status.close() }
            return try status.status().totals.confirmed == 1 && status.status().blacklist == 1
        }
        run.cancel()
        let result = await run.result
        #expect(isDone, "\(result)")
    }

    @Test("The flags, exit codes and fields of the program are those of its documentation")
    func documentsTool() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("Docs/Reference/Tool.md"), encoding: .utf8)
        for command in [
            ["send"], ["recover"], ["init"], ["demo", "crash"], ["demo", "gateway"], ["gateway", "certificate"],
            ["feedback", "read"], ["channels", "create"], ["channels", "delete"],
            ["journal", "status"], ["journal", "list"],
            ["journal", "show"],
            ["mock", "http2"], ["mock", "binary"], ["mock", "feedback"], ["mock", "audit"],
        ] {
            let help = try await Tool.start(command + ["--help"]).result().output
            for match in help.matches(of: #/\n  (?:-., )?(--[a-z0-9-]+)/#)
            where !["--help", "--version"].contains(match.1) {
                #expect(page.contains("`\(match.1)"), "\(command) \(match.1) is not in Docs/Reference/Tool.md")
            }
        }
    }
}

/// Stands for the sender that an application has already.
final class MySender: Sendable {
    struct Answer { var status: Int, reason: String? }

    let sent = Monitor<[String]>([])

    func send(_ payload: [UInt8], to token: String, topic: String) async throws -> Answer {
        sent.withLock { $0.append(token) }
        return Answer(status: 200, reason: nil)
    }
}
