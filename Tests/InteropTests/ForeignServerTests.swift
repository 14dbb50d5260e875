import Foundation
import HoldfastHTTP2
import Testing

/// Our client role against servers that we did not write, over plain TCP (prior knowledge).
@Suite("The client against foreign servers", .serialized, .timeLimit(.minutes(3)))
struct ForeignServerTests {
    // Skipped where Node is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    @Suite("Node's http2", .enabled(if: Foreign.shouldTest("node"), "Debian package nodejs is not installed"))
    struct Node {
        @Test("3000 requests with bodies arrive as sent and are answered")
        func requests() async throws {
            let plan = (0..<3000).map {
                PlannedRequest.post($0 % 2 == 0 ? "/3/device/00" : "/bare", tag: $0, bodySize: $0 % 400)
            }
            let outcome = try await NodeServer.run { try await ClientDriver.run(plan, port: $0.port) }
            #expect(outcome.succeeded.sorted() == (0..<3000).map { UInt64($0) }, "\(outcome.responses.prefix(3))")
            #expect(outcome.failure == nil)
        }

        @Test("Error bodies written in pieces come out whole, with their header fields")
        func errors() async throws {
            let plan = (0..<500).map { PlannedRequest.post("/error", tag: $0, bodySize: 200) }
            let outcome = try await NodeServer.run { try await ClientDriver.run(plan, port: $0.port) }
            #expect(outcome.responses.count == 500 && outcome.succeeded.isEmpty)
            for (tag, response) in outcome.responses {
                #expect(response.status == 410)
                #expect(String(decoding: response.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1}"#)
                #expect(response.headers.first(name: "apns-id") == "id-\(tag)")
            }
        }

        @Test("Small windows: bodies arrive as sent, piece by piece")
        func smallWindows() async throws {
            let plan = (0..<300).map { PlannedRequest.post("/3/device/00", tag: $0, bodySize: 5000) }
            let outcome = try await NodeServer.run(settings: "{ initialWindowSize: 100, maxConcurrentStreams: 20 }") {
                try await ClientDriver.run(plan, port: $0.port)
            }
            #expect(outcome.succeeded.count == 300, "\(outcome.responses.prefix(3)) \(outcome.resets)")
            #expect(outcome.greatestOpen == 20)
        }

        @Test("Without a dynamic table at the server all the same")
        func noTable() async throws {
            let plan = (0..<300).map { PlannedRequest.post("/3/device/00", tag: $0, bodySize: 100) }
            let outcome = try await NodeServer.run(settings: "{ headerTableSize: 0 }") {
                try await ClientDriver.run(plan, port: $0.port)
            }
            #expect(outcome.succeeded.count == 300 && outcome.failure == nil)
        }

        @Test("Informational responses and trailers do not hide a success")
        func informational() async throws {
            let plan = (0..<200).map { PlannedRequest.post("/informed", tag: $0, bodySize: 10) }
            let outcome = try await NodeServer.run { try await ClientDriver.run(plan, port: $0.port) }
            #expect(outcome.succeeded.count == 200, "\(outcome.responses.prefix(3)) \(outcome.resets)")
        }

        @Test("REFUSED_STREAM is told from answers")
        func refused() async throws {
            let plan = (0..<100).map { PlannedRequest.post($0 % 10 == 3 ? "/refuse" : "/bare", tag: $0, bodySize: 10) }
            let outcome = try await NodeServer.run { try await ClientDriver.run(plan, port: $0.port) }
            #expect(outcome.succeeded.count == 90)
            #expect(outcome.resets.count == 10 && outcome.resets.values.allSatisfy { $0 == .refusedStream })
        }

        @Test("GOAWAY in the middle: every request is answered, never processed or open, exactly once")
        func goAway() async throws {
            let plan = (0..<1000).map { PlannedRequest.post("/3/device/00", tag: $0, bodySize: 200) }
            let outcome = try await NodeServer.run(settings: "{ maxConcurrentStreams: 100 }", goAwayAfter: 333) {
                try await ClientDriver.run(plan, port: $0.port)
            }
            let goAway = try #require(outcome.goAways.first)
            #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
            #expect(goAway.lastStreamID == 665)
            let ends = outcome.succeeded + outcome.goAways.flatMap(\.neverProcessed) + outcome.open
            #expect((ends + outcome.resets.keys).sorted() == (0..<UInt64(outcome.started)).map { $0 })
            #expect(outcome.started < 1000)
            #expect(goAway.neverProcessed.allSatisfy { $0 >= 333 })
        }
    }

    // Skipped where nghttpd is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    @Suite("nghttpd", .enabled(if: Foreign.shouldTest("nghttpd"), "Debian package nghttp2-server is not installed"))
    struct NGHTTPD {
        static let file = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

        /// Runs nghttpd with one file, `data`.
        static func run(_ plan: [PlannedRequest], _ options: String...) async throws -> RunOutcome {
            let program = try Foreign.find("nghttpd", package: "nghttp2-server")
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            _ = try folder.file("data", Data(file))
            _ = try folder.file("empty", Data())
            // The port may be taken by somebody else in between: then another is tried.
            for _ in 0..<5 {
                let port = try await freePort()
                let child = try Child(
                    program, ["--no-tls", "--address=127.0.0.1", "-d", folder.url.path] + options + ["\(port)"],
                    in: folder)
                defer { child.end() }
                let isUp = try await wait("nghttpd") { () -> Bool? in
                    if !child.isRunning { return false }
                    return await isListening(port) ? true : nil
                }
                if isUp { return try await ClientDriver.run(plan, port: port) }
            }
            throw TookTooLong(description: "nghttpd found no port in five attempts")
        }

        @Test("2000 requests with bodies: files come back as they are, missing ones as 404")
        func requests() async throws {
            let plan = (0..<2000).map {
                PlannedRequest.post(["/data", "/empty", "/missing", "/data"][$0 % 4], tag: $0, bodySize: $0 % 300)
            }
            let outcome = try await Self.run(plan, "-m", "100")
            #expect(outcome.failure == nil && outcome.resets.isEmpty)
            #expect(outcome.succeeded.count == 500)
            #expect(outcome.responses.count == 1500)
            for (tag, response) in outcome.responses {
                #expect(response.status == (tag % 4 == 2 ? 404 : 200))
                if tag % 4 != 2 { #expect(response.body == Self.file) }
            }
        }

        @Test("Small windows and a small table")
        func smallWindows() async throws {
            let plan = (0..<300).map { PlannedRequest.post("/empty", tag: $0, bodySize: 5000) }
            let outcome = try await Self.run(plan, "-w", "10", "-c", "0", "-m", "10")
            #expect(
                outcome.succeeded.count == 300,
                "\(outcome.responses.prefix(3)) \(outcome.resets) \(outcome.failure as Any)")
        }
    }
}
