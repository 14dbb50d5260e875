import HoldfastRequests
import HoldfastTransport
import NIOCore
import SessionRig
import Testing

@testable import Holdfast
@testable import HoldfastTesting

/// A service that is not Apple's fits: its dialect says the little that is its own.
@Suite("Another service") struct AnotherServiceTests {
    @Test("A POST of JSON to /send, answered with 200 or 429, goes by the same session") func post() {
        let rig = SessionRig.opened(PostDialect(), .sample)
        rig.handOut(2)
        rig.exchange()
        let request = rig.service.requests[0]
        #expect(request[":method"] == "POST" && request[":path"] == "/send" && request[":authority"] == "push.example")
        #expect(request["content-type"] == "application/json" && request["x-key"] == "hour-500000")
        #expect(request.headers.count == 6 && request.body == Array(#"{"ticket":1}"#.utf8))
        rig.service.answer(1, body: #"{"name":"projects/p/messages/1"}"#)
        rig.service.answer(2, status: 429, headers: [("retry-after", "60")])
        rig.exchange()
        #expect(rig.told.result(1)?.verdict == .confirmed)
        #expect(rig.told.result(2)?.verdict == .deferred(.service) && rig.told.result(2)?.retryAfter == .seconds(60))
        #expect(rig.told.violations == [] && rig.service.failure == nil)
    }

    @Test("Fields that repeat are a byte each, and one that changes is written anew") func headerTable() {
        var settings = RequestSettings.sample
        (settings.idleClose, settings.pingAfter) = (nil, .seconds(24 * 3600))
        let rig = SessionRig.opened(PostDialect(), settings)
        rig.handOut(1)
        let first = rig.outputCount
        rig.exchange()
        rig.service.answer(1)
        rig.exchange()
        rig.handOut(1)
        let second = rig.outputCount
        rig.exchange()
        rig.service.answer(2)
        rig.exchange()
        // Method, scheme, path (2 + 5), three fields; two frames' heads; the body.
        #expect(second == 2 + 7 + 3 + 2 * 9 + 12)
        #expect(second < first)
        rig.advance(.seconds(3600))
        rig.handOut(1)
        rig.exchange()
        #expect(rig.service.requests.map { $0["x-key"] } == ["hour-500000", "hour-500000", "hour-500001"])
        #expect(rig.told.violations == [] && rig.service.failure == nil)
    }

    @Test("The engine has a connection to it like any other: room, answers, and an end", .timeLimit(.minutes(1)))
    func connection() async throws {
        let server = try await PostServer.start { $0.isMultiple(of: 2) ? 429 : 200 }
        let recorder = ConnectionRecorder(.perNotification)
        weak var freed: RequestConnection<PostDialect>?
        func live() async throws {
            let connection = try await server.connect(recorder.sink)
            freed = connection
            #expect(connection.streams == 50 && connection.capacity == 100)
            var record = SessionRecord()
            let handOut = record.handOut(60)
            recorder.handingOut(handOut.tickets)
            connection.send(handOut)
            #expect(await Patience(.seconds(10)).wait { recorder.now.unanswered.isEmpty })
            connection.close(deadline: .seconds(5))
            #expect(await Patience(.seconds(10)).wait { recorder.now.end != nil })
        }
        try await live()
        let told = recorder.now
        #expect(told.confirmed.count == 30 && told.answers.values.count { $0.verdict == .deferred(.service) } == 30)
        #expect(told.end?.possiblySent == [] && told.end?.cause == nil && told.violations == [])
        #expect(await Patience(.seconds(10)).wait { freed == nil })
        try await server.stop()
    }
}
