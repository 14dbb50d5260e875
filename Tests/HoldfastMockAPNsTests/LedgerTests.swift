import Foundation
import HoldfastMockAPNs
import HoldfastMocking
import RawClients
import Testing

@Suite("The ledger")
struct LedgerTests {
    static let id = "123e4567-e89b-12d3-a456-4266554400a0"

    @Test("A line is in the file when its answer has arrived, and only for what was accepted")
    func linesBeforeAnswers() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            let configure = { (configuration: inout MockAPNsConfiguration) in
                configuration.ledgerPath = path
                configuration.rejections = ["cd": "Unregistered"]
            }
            try await withServer(configure) { server async throws in
                var request = Curl()
                request.headers.append("apns-id: \(Self.id)")
                request.path = "/3/device/ABcd"
                #expect(try await request.send(to: server).status == 200)
                #expect(try lines(of: path) == [#"{"apns-id":"\#(Self.id)","token":"abcd","topic":"com.example.app"}"#])
                request.path = "/3/device/cd"
                #expect(try await request.send(to: server).status == 410)
                request.body = ""
                #expect(try await request.send(to: server).status == 400)
                #expect(try lines(of: path).count == 1)
                let assigned = try await Curl().send(to: server).headers["apns-id"]
                #expect(try lines(of: path).last?.contains(try #require(assigned)) == true)
                #expect(try mode(of: path) == 0o600)
            }
        }
    }

    @Test("Under load its lines are as many as the answers, each different", arguments: [1, 2])
    func underLoad(_ threads: Int) async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            let configure = { (configuration: inout MockAPNsConfiguration) in
                configuration.ledgerPath = path
                configuration.eventLoopThreads = threads
            }
            try await withServer(configure) { server async throws in
                let load = try await H2Load(server, requests: 8000, streams: 100, clients: 4)
                #expect(load.succeeded == 8000)
                #expect(server.counters.accepted == 8000)
                #expect(server.counters.connections == 4)
            }
            let audit = try LedgerAudit(paths: [path])
            #expect(audit.acceptedLines == 8000)
            #expect(audit.distinctNotifications == 8000)
            #expect(audit.distinctIDs == 8000)
            #expect(audit.damagedLines == 0)
            #expect(audit.duplicates.isEmpty)
        }
    }

    @Test("Several runs add up, even behind a line that was cut off")
    func severalRuns() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            for run in 1...3 {
                try await withServer {
                    $0.ledgerPath = path
                } _: { server async throws in
                    #expect(try await Curl().send(to: server).status == 200)
                }
                #expect(try LedgerAudit(paths: [path]).acceptedLines == run)
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.seekToEnd()
                try file.write(contentsOf: Data(#"{"apns-id":"123e"#.utf8))
                try file.close()
            }
            let audit = try LedgerAudit(paths: [path])
            #expect(audit.acceptedLines == 3)
            #expect(audit.damagedLines == 3)
        }
    }

    @Test("A ledger that cannot be written ends the connection, without a 200")
    func fullDisk() async throws {
        try await withServer {
            $0.ledgerPath = "/dev/full"
        } _: { server async throws in
            let command = try await Command.run(
                "curl",
                [
                    "-s", "-i", "--http2", "--cacert", server.certificateAuthorityFile, "-H",
                    "apns-topic: com.example.app",
                    "-d", "{}", "https://\(server.address)/3/device/abcd",
                ])
            #expect(command.status != 0)
            #expect(!command.text.contains("200"))
            try await eventually("the failure is counted") { server.counters.ledgerFailures == 1 }
        }
    }

    @Test("A ledger that cannot be opened keeps the server from starting")
    func unusablePath() async throws {
        try await withDirectory { directory in
            await #expect(throws: (any Error).self) {
                try await withServer {
                    $0.ledgerPath = directory + "/none/ledger"
                } _: { _ async throws in
                }
            }
        }
    }

    @Test("What a behavior takes in silence is in the ledger, and what it drops is not")
    func silence() async throws {
        try await withDirectory { directory in
            let path = directory + "/ledger.ndjson"
            let configure = { (configuration: inout MockAPNsConfiguration) in
                configuration.ledgerPath = path
                configuration.behavior = MockBehavior { request in
                    switch request.token {
                    case "aa": MockAnswer(.acceptedInSilence, ending: .close)
                    case "bb": MockAnswer(.silence, ending: .close)
                    default: nil
                    }
                }
            }
            try await withServer(configure) { server async throws in
                for token in ["aa", "bb"] {
                    let nghttp = try await NGHTTP(server, tokens: [token])
                    #expect(nghttp.count("recv HEADERS") == 0)
                }
                #expect(try lines(of: path).count == 1)
                #expect(try lines(of: path).first?.contains(#""token":"aa""#) == true)
            }
        }
    }
}

@Suite("The audit of a ledger")
struct LedgerAuditTests {
    private func audit(_ text: String) async throws -> LedgerAudit {
        try await withDirectory { directory in
            try text.write(toFile: directory + "/ledger", atomically: true, encoding: .utf8)
            return try LedgerAudit(paths: [directory + "/ledger"])
        }
    }

    private let first = "123e4567-e89b-12d3-a456-4266554400a0"
    private let second = "223e4567-e89b-12d3-a456-4266554400a0"

    private func line(_ id: String, _ token: String) -> String {
        #"{"apns-id":"\#(id)","token":"\#(token)","topic":"com.example.app"}"# + "\n"
    }

    @Test("A notification accepted twice is a duplicate; one id for two tokens is not")
    func duplicates() async throws {
        let audit = try await audit(
            line(first, "aa") + line(first, "bb") + line(second, "aa") + line(second.uppercased(), "AA")
                + line(first, "bb") + line(first, "bb"))
        #expect(audit.acceptedLines == 6)
        #expect(audit.distinctNotifications == 3)
        #expect(audit.distinctIDs == 2)
        #expect(audit.duplicateLines == 3)
        let expected: [(String, String, Int)] = [(first, "bb", 3), (second, "aa", 2)]
        #expect(audit.duplicates.map(\.id) == expected.map(\.0))
        #expect(audit.duplicates.map(\.recipient) == expected.map(\.1))
        #expect(audit.duplicates.map(\.count) == expected.map(\.2))
    }

    @Test("What was expected and is not there is missing; what is there and was not expected is unexpected")
    func missing() async throws {
        let audit = try await audit(line(first, "aa"))
        #expect(audit.missing(from: [first.uppercased(), second]) == [second])
        #expect(audit.unexpected(besides: [second]) == [first])
        #expect(audit.unexpected(besides: [first.uppercased()]).isEmpty)
    }

    @Test("JSON in another order and spelling is read as well")
    func otherJSON() async throws {
        let audit = try await audit(
            #"{"topic":"a", "token":"AB", "apns-id":"\#(first)", "more":1}"# + "\n\n"
                + #"{"apns-id":"\#(first)","token":"ab","topic":"say \"hi\""}"# + "\n")
        #expect(audit.acceptedLines == 2)
        #expect(audit.distinctNotifications == 1)
        #expect(audit.damagedLines == 0)
    }

    @Test(
        "A line that is damaged, or has no end, is counted as damaged and nothing else",
        arguments: [
            "{\"apns-id\":\"x\",\"token\":\"aa\",\"topic\":\"a\"}\n", "x\n", "{}\n", "{\"apns-id\":\"123e4567",
            #"{"apns-id":"123e4567-e89b-12d3-a456-4266554400a0","token":"aa","topic":"a"}"#,
            #"{"apns-id":"123e4567-e89b-12d3-a456-4266554400a0","token":"aa","topic":"a{"apns-id":"123e4567-e89b-12d3-a456-4266554400a0","token":"aa","topic":"a"}"#
                + "\n",
        ])
    func damaged(_ text: String) async throws {
        let audit = try await audit(line(first, "aa") + text)
        #expect(audit.acceptedLines == 1)
        #expect(audit.damagedLines == 1)
    }

    @Test("Several ledgers add up, and a long one is read whole")
    func severalFiles() async throws {
        try await withDirectory { directory in
            let ids = (0..<4000).map { _ in UUID().uuidString }
            for (name, part) in [("a", ids[..<2500]), ("b", ids[1500...])] {
                try part.map { line($0, "ab") }.joined().write(
                    toFile: directory + "/\(name)", atomically: true, encoding: .utf8)
            }
            let audit = try LedgerAudit(paths: [directory + "/a", directory + "/b"])
            #expect(audit.acceptedLines == 5000)
            #expect(audit.distinctIDs == 4000)
            #expect(audit.duplicateLines == 1000)
            #expect(audit.missing(from: ids).isEmpty)
        }
    }

    @Test("A file that is not there is an error")
    func noFile() {
        #expect(throws: MockError.self) { try LedgerAudit(paths: ["/nonexistent/ledger"]) }
    }
}
