import Holdfast
import HoldfastHTTP2
import HoldfastRequests
import SessionRig
import Testing

/// From answers to results, by a clock that the test sets.
@Suite("A session's answers") struct SessionAnswerTests {
    private func rig(
        _ dialect: PostDialect = PostDialect(), streams: Int = 100, _ change: (inout RequestSettings) -> Void = { _ in }
    ) -> SessionRig<PostDialect> {
        var settings = RequestSettings.sample
        change(&settings)
        return .opened(dialect, settings, streams: streams)
    }

    private func finish(_ rig: SessionRig<PostDialect>) {
        rig.toService()
        rig.told.checkEnd()
        #expect(rig.told.violations == [])
        #expect(rig.service.failure == nil)
    }

    @Test("An answer is one answer, however it is cut into reads", arguments: [1, 2, 3, 7, 9, 10, 64]) func split(
        size: Int
    ) {
        let rig = rig()
        rig.handOut(3)
        rig.exchange()
        rig.service.answer(1)
        rig.service.answer(2, body: "taken")
        rig.service.answer(3, status: 404, headers: [("server", "x")], body: "no such thing")
        rig.toSession(inPiecesOf: size)
        #expect(rig.told.confirmed.map(\.rawValue) == [1])
        #expect(rig.told.result(2)?.verdict == .confirmed && rig.told.result(2)?.detail == "taken")
        #expect(rig.told.result(3)?.status == 404 && rig.told.result(3)?.detail == "no such thing")
        finish(rig)
    }

    @Test("An answer that comes over several reads is told with its last byte") func overReads() {
        let rig = rig()
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(1, status: 200, body: "taken")
        let bytes = rig.service.session.takeOutput()
        for byte in bytes.dropLast() {
            rig.read([[byte]])
            #expect(rig.told.results.isEmpty)
        }
        rig.read([[bytes.last ?? 0]])
        #expect(rig.told.result(1)?.detail == "taken")
        finish(rig)
    }

    @Test("Trailers end an answer, and count for nothing else") func trailers() {
        let rig = rig()
        rig.handOut(1)
        rig.exchange()
        let stream = rig.service.stream(1)
        let head = HTTP2ServerSession.headerBlock(status: 200)
        rig.service.session.sendHeaders(streamID: stream, headerBlock: head, endStream: false)
        rig.service.session.sendData(streamID: stream, Array("taken".utf8), endStream: false)
        rig.exchange()
        #expect(rig.told.results.isEmpty)
        // HEADERS with END_STREAM: grpc-status: 0, as a literal.
        let field = [0x00, 11] + Array("grpc-status".utf8) + [1, UInt8(ascii: "0")]
        rig.read([[0, 0, UInt8(field.count), 1, 5, 0, 0, 0, UInt8(stream)] + field])
        #expect(rig.told.result(1)?.verdict == .confirmed && rig.told.result(1)?.detail == "taken")
        finish(rig)
    }

    @Test("A body beyond the limit is cut, and its status counts all the same") func longBody() {
        let rig = rig { $0.maximumBody = 100 }
        rig.handOut(1)
        rig.exchange()
        let stream = rig.service.stream(1)
        let head = HTTP2ServerSession.headerBlock(status: 404)
        rig.service.session.sendHeaders(streamID: stream, headerBlock: head, endStream: false)
        rig.service.session.sendData(streamID: stream, [UInt8](repeating: 0x78, count: 101), endStream: false)
        rig.exchange()
        #expect(rig.told.result(1)?.status == 404 && rig.told.result(1)?.detail == "cut")
        #expect(rig.service.resets == [stream])
        finish(rig)
    }

    @Test("Refused by RST_STREAM, a request was not processed; reset in any other way, nobody knows") func resets() {
        let rig = rig()
        rig.handOut(3)
        rig.exchange()
        rig.service.reset(1, .refusedStream)
        rig.service.reset(2, .internalError)
        let head = HTTP2ServerSession.headerBlock(status: 200)
        rig.service.session.sendHeaders(streamID: rig.service.stream(3), headerBlock: head, endStream: false)
        rig.service.reset(3, .refusedStream)
        rig.exchange()
        #expect(rig.told.tickets(.neverProcessed(.none)) == [1])
        #expect(rig.told.tickets(.unknown) == [2, 3])
        #expect(rig.told.end == nil)
        finish(rig)
    }

    @Test("GOAWAY: what is above the last stream was never processed, what is below gets its answer, then it ends")
    func goAway() {
        let rig = rig(streams: 4)
        rig.handOut(6)
        rig.exchange()
        rig.service.goAway(last: 2)
        rig.exchange()
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [3, 4, 5, 6])
        #expect(rig.told.isDraining && rig.told.end == nil)
        rig.handOut(1)
        #expect(rig.told.result(7)?.verdict == .neverProcessed(.newConnection))
        rig.service.answer(1, 2)
        rig.exchange()
        #expect(rig.told.confirmed.map(\.rawValue) == [1, 2])
        #expect(rig.told.end?.possiblySent == [] && rig.told.end?.cause == "GOAWAY ")
        finish(rig)
    }

    @Test("Behind a GOAWAY, what is not answered before the end is possibly sent, and both causes are told")
    func goAwayWithoutAnswers() {
        let rig = rig()
        rig.handOut(2)
        rig.exchange()
        rig.service.goAway(last: 1, "restart")
        rig.exchange()
        rig.step { $0.lose("the service closed the connection", at: $1) }
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [2])
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [1])
        #expect(rig.told.end?.cause == "GOAWAY restart; then: the service closed the connection")
        finish(rig)
    }

    @Test("The reason of a GOAWAY is told by what it gives back, or else by itself") func reason() {
        for waiting in [0, 1] {
            let rig = rig(streams: 1)
            rig.handOut(1 + waiting)
            rig.exchange()
            rig.service.goAway(last: 1, "locked out")
            rig.exchange()
            #expect(rig.told.told.map(\.verdict) == (waiting == 0 ? [.laneStopped(.credentials)] : []))
            #expect(rig.told.result(2)?.verdict == (waiting == 0 ? nil : .laneStopped(.credentials)))
            finish(rig)
        }
    }

    @Test("How long to wait may be seconds or a date, which is compared with the wall clock of the moment")
    func retryAfter() {
        let rig = rig()
        rig.handOut(2)
        rig.exchange()
        rig.advance(.seconds(4))
        rig.service.answer(1, status: 429, headers: [("retry-after", "17")])
        // The wall clock began at 1,800,000,000: 15 January 2027, 08:00:00.
        rig.service.answer(2, status: 429, headers: [("retry-after", "Fri, 15 Jan 2027 08:00:30 GMT")])
        rig.exchange()
        #expect(rig.told.result(1)?.retryAfter == .seconds(17))
        #expect(rig.told.result(2)?.retryAfter == .seconds(26))
        finish(rig)
    }

    @Test("Refusals alone for half a minute ask for another connection, whatever service it is") func refusals() {
        let rig = rig()
        for _ in 0..<7 {
            rig.handOut(1)
            rig.exchange()
            rig.service.answer(UInt64(rig.service.requests.count), status: 503)
            rig.exchange()
            rig.advance(.seconds(5))
        }
        #expect(rig.told.tickets(.deferred(.service)) == [1, 2, 3, 4, 5, 6, 7])
        #expect(rig.told.end?.cause == "all answers of 30 s were refusals, the last with status 503")
        finish(rig)
    }

    @Test("Where the service wants it, one request is open until one was taken; a refusal is no proof")
    func startsAlone() {
        var dialect = PostDialect()
        dialect.startsAlone = true
        let rig = rig(dialect)
        rig.handOut(5)
        rig.exchange()
        #expect(rig.service.requests.count == 1)
        rig.service.answer(1, status: 404)
        rig.exchange()
        #expect(rig.service.requests.count == 2)
        rig.service.answer(2)
        rig.exchange()
        #expect(rig.service.requests.count == 5)
        finish(rig)
    }

    @Test("An entry that can't be written is not sent, and its neighbours are") func unreadable() {
        var dialect = PostDialect()
        dialect.unreadable = [Ticket(rawValue: 2)]
        let rig = rig(dialect)
        rig.handOut(3)
        rig.exchange()
        #expect(rig.told.result(2) == .notSent("the entry can't be read"))
        #expect(rig.service.requests.map(\.ticket.rawValue) == [1, 3])
        #expect(rig.told.violations == [])
    }

    @Test("Without an authorization nothing goes out, and the connection ends with the reason") func unauthorized() {
        var dialect = PostDialect()
        dialect.fault = ConnectError(.configuration, "no key")
        let rig = rig(dialect)
        rig.handOut(2)
        #expect(rig.told.end?.cause == "no key" && rig.told.end?.possiblySent == [])
        finish(rig)
    }
}
