import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import Scratch
import Testing

@testable import HoldfastService
@testable import HoldfastTool

@Suite("The scripts of mock http2")
struct MockScriptTests {
    private func read(_ yaml: String) throws -> MockScriptFile {
        try MockScriptFile(try YAMLReader.read(Array(yaml.utf8)))
    }

    @Test("Every key of a step is understood, and becomes what the library has for it")
    func everything() throws {
        let file = try read(
            """
            listen: [127.0.0.2, "[::1]:2197"]
            sandbox: true
            first-stream: refused
            steps:
              - name: storm
                when: {count: 5-9, number: 3, connection: 2-, token: [AB, cd], not-token: ef, topic: com.example.app,
                       address: 127.0.0.2, after: 1s, until: 2m, once: token, beyond: 9, skip: 1, every: 2, times: 3}
                answer: {reason: ServiceUnavailable, retry-after: "7"}
                delay: 250ms
                pieces: {bytes: 3, pause: 10ms}
                then: [{streams: 1}, {streams: 100, after: 2s}, {goaway: {code: ENHANCE_YOUR_CALM, offset: -3, reason: Shutdown}}, stall]
              - answer: {reset: REFUSED_STREAM, taken: true}
              - connection: {welcome: normal, tls: wrong-name, settings: 300ms, streams: 7, pings: false, segments: 1,
                             read: {bytes: 512, every: 5ms}, then: {close: , after: 1m}}
            """)
        #expect(file.addresses == ["127.0.0.2", "[::1]:2197"] && file.isSandbox && file.firstStreamRule == .refused)
        let steps = file.script.steps
        #expect(steps.map(\.name) == ["storm", nil, nil])
        let match = steps[0].match
        #expect(match.count == 5...9 && match.number == 3...3 && match.connections == 2...Int.max)
        #expect(match.tokens == ["ab", "cd"] && match.exceptTokens == ["ef"] && match.topics == ["com.example.app"])
        #expect(match.address == "127.0.0.2" && match.after == .seconds(1) && match.until == .seconds(120))
        #expect(match.once == .token && match.beyond == 9 && match.skip == 1 && match.every == 2 && match.times == 3)
        guard case .answer(let storm) = steps[0].action, case .rejected(let rejection) = storm.content.kind,
            case .answer(let second) = steps[1].action, case .acceptedAndReset(code: 7) = second.content.kind,
            case .connect(let plan) = steps[2].action
        else { return #expect(Bool(false), "\(steps)") }
        #expect(rejection == MockRejection("ServiceUnavailable", status: 503, retryAfter: "7"))
        #expect(
            storm.delay == .milliseconds(250) && storm.bodyFrameByteCount == 3 && storm.bodyPause == .milliseconds(10))
        #expect(storm.then.count == 4 && storm.then[1].delay == .seconds(2))
        guard case .goAway(let goAway) = storm.then[2].kind else { return #expect(Bool(false), "\(storm.then)") }
        #expect(goAway.code == 11 && goAway.offset == -3 && goAway.debugData == #"{"reason":"Shutdown"}"#)
        #expect(plan.tls == .wrongName && plan.maxConcurrentStreams == 7 && !plan.answersPings)
        #expect(plan.segmentByteCount == 1 && plan.reading?.byteCount == 512 && plan.then.count == 1)
    }

    @Test(
        "A mistake is named with its line and its column",
        arguments: [
            ("steps:\n  - when: {frist: 1}", 2, 12, "did you mean first?"),
            ("steps:\n  - answer: Unregisterd", 2, 13, "did you mean Unregistered?"),
            ("steps:\n  - delay: soon", 2, 12, "takes a duration"),
            ("steps: 7", 1, 8, "takes a list"),
            ("steps:\n  - then: [{streams: 1, close: }]", 2, 12, "has one of"),
            ("steps:\n  - connection: {tls: none}", 2, 23, "wrong-name"),
            ("steps:\n  - connection: {}\n    answer: normal", 2, 5, "does not go with connection"),
            ("steps:\n  - when: {count: 9-5}", 2, 19, "3-10"),
            ("steps:\n  - answer: {reset: MAYBE}", 2, 21, "REFUSED_STREAM"),
            ("stesp: []", 1, 1, "did you mean steps?"),
        ])
    func mistakes(_ yaml: String, _ line: Int, _ column: Int, _ words: String) throws {
        do {
            _ = try read(yaml)
            Issue.record("taken")
        } catch let fault as YAMLFault {
            #expect(fault.place == TextPlace(line: line, column: column), "\(fault)")
            #expect(fault.message.contains(words), "\(fault.message)")
        }
    }

    @Test("Every example of the documentation is a script")
    func documentation() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/Guide/MockService.md")
        let parts = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```yaml\n").dropFirst()
        #expect(parts.count > 10)
        for part in parts {
            let yaml = part.components(separatedBy: "```")[0]
            do { _ = try read(yaml) } catch { Issue.record("\(error) in \(yaml)") }
        }
    }

    @Test("The command follows its script, and counts at the end")
    func command() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "in",
            (0..<50).map {
                #"{"token":"\#(String(format: "%064x", $0))","apns-topic":"com.example","payload":{"n":\#($0)}}"# + "\n"
            }.joined())
        try folder.write(
            "script", "steps:\n  - name: refused\n    when: {first: 20}\n    answer: {reset: REFUSED_STREAM}\n")
        let mock = try await MockProcess("--script", folder("script"), "--json", in: folder)
        let sent = try await Tool.run(
            "send", folder("in"), "--journal", folder("push.journal"), "--endpoint", mock.endpoint, "--trust",
            mock.trust)
        #expect(sent.status == 0, "\(sent.errors)")
        let stopped = try await mock.stop()
        #expect(stopped.output.contains(#""steps":[{"count":20,"name":"refused"}]"#), "\(stopped.output)")
        #expect(stopped.output.contains(#""accepted":50,"#), "\(stopped.output)")
        try folder.write("script", "steps:\n  - when: {frist: 1}\n")
        let wrong = try await Tool.run(
            "mock", "http2", "--certificate-directory", folder("certs"), "--script", folder("script"))
        #expect(wrong.status == 78 && wrong.errors.contains(":2:12: when has no \"frist\""), "\(wrong.errors)")
    }
}
