import Holdfast
import HoldfastHTTP2
import HoldfastRequests
import SessionRig
import Testing

/// Each rule of a connection's life, by a clock that the test sets.
@Suite("A session's life") struct SessionLifeTests {
    private func rig(streams: Int = 100, _ change: (inout RequestSettings) -> Void = { _ in }) -> SessionRig<
        PostDialect
    > {
        var settings = RequestSettings.sample
        change(&settings)
        return .opened(PostDialect(), settings, streams: streams)
    }

    /// What must hold at the end of each test.
    private func finish(_ rig: SessionRig<PostDialect>) {
        rig.toService()
        rig.told.checkEnd()
        #expect(rig.told.violations == [])
        #expect(rig.service.failure == nil)
        if rig.told.end != nil { #expect(rig.session.nextLook == nil && rig.told.isClosed) }
    }

    @Test("Nothing goes out before the service's SETTINGS; with them as many again may wait as it takes") func opening()
    {
        let rig = SessionRig(PostDialect(), .sample, streams: 7)
        #expect(rig.session.nextLook == nil)
        rig.step { $0.begin(at: $1) }
        rig.handOut(3)
        rig.toService()
        #expect(rig.service.requests.isEmpty && rig.told.room == nil)
        rig.exchange()
        #expect(rig.told.room?.capacity == 14 && rig.told.room?.streams == 7)
        #expect(rig.service.requests.map(\.ticket.rawValue) == [1, 2, 3])
        finish(rig)
    }

    @Test("A peer that speaks something else fails the connection, before it was opened and behind it")
    func wrongProtocol() {
        let rig = SessionRig(PostDialect(), .sample)
        rig.step { $0.begin(at: $1) }
        rig.step { $0.fail("no h2", kind: .configuration, at: $1) }
        #expect(rig.told.connectError == ConnectError(.configuration, "no h2"))
        #expect(rig.told.isClosed && rig.session.nextLook == nil)

        let silent = SessionRig(PostDialect(), .sample)
        silent.step { $0.begin(at: $1) }
        silent.step { $0.lose("reset", at: $1) }
        #expect(silent.told.connectError == ConnectError(.temporary, "https://push.example: reset"))
        #expect(silent.told.end == nil && silent.told.violations == [])
    }

    @Test("A request whose deadline passes is possibly sent, its stream is reset, and others go on") func deadline() {
        let rig = rig()
        rig.handOut(1)
        rig.exchange()
        rig.advance(.seconds(29))
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(2)
        rig.exchange()
        #expect(rig.told.result(1) == nil)
        rig.advance(.seconds(1))
        #expect(rig.told.result(1) == .unknown("the service did not answer within 30.0 seconds"))
        rig.toService()
        #expect(rig.service.resets == [rig.service.stream(1)])
        #expect(rig.told.end == nil && !rig.told.isDraining)
        finish(rig)
    }

    @Test("A late answer to a request that was given up is not told") func lateAnswer() {
        let rig = rig { $0.idleClose = nil }
        rig.handOut(2)
        rig.toService()
        rig.service.answer(2)
        rig.toSession()
        // Written before the reset arrives.
        rig.service.answer(1)
        rig.advance(.seconds(30))
        #expect(rig.told.tickets(.unknown) == [1])
        rig.exchange()
        #expect(rig.told.confirmed.map(\.rawValue) == [2])
        finish(rig)
    }

    @Test("Where nothing was answered for the deadline, the address is called silent and the connection ends")
    func silentService() {
        let rig = rig { $0.pingAfter = .seconds(1000) }
        rig.handOut(2)
        rig.exchange()
        rig.advance(.seconds(31))
        #expect(rig.told.tickets(.unknown) == [1, 2])
        #expect(rig.told.stalls == ["keeps connections open and answers no request"])
        #expect(rig.told.end?.possiblySent == [])
        #expect(rig.told.end?.cause == "the service keeps connections open and answers no request")
        finish(rig)
    }

    @Test("A connection on which nothing arrives is asked for a sign of life, and goes on when there is one")
    func signOfLife() {
        let rig = rig()
        for _ in 0..<20 {
            rig.advance(.seconds(21))
            rig.exchange()
        }
        #expect(rig.told.end == nil && rig.told.stalls.isEmpty)
        finish(rig)
    }

    @Test("No sign of life: the connection is over, and what is open is possibly sent") func dead() {
        let rig = rig()
        rig.advance(.seconds(10))
        rig.handOut(3)
        rig.toService()
        rig.advance(.seconds(25))
        #expect(rig.told.stalls == ["does not answer a PING"])
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [1, 2, 3])
        #expect(rig.told.end?.cause?.contains("no answer to a PING within 10.0 seconds") == true)
        finish(rig)
    }

    @Test("Without anything to send for the limit it says goodbye and ends without a cause") func idle() {
        let rig = rig { $0.idleClose = .seconds(5) }
        rig.handOut(1)
        rig.exchange()
        rig.advance(.seconds(8))
        #expect(rig.told.end == nil)
        rig.service.answer(1)
        rig.exchange()
        rig.advance(.seconds(4))
        #expect(rig.told.end == nil)
        rig.advance(.seconds(3))
        #expect(rig.told.isDraining && rig.told.end?.possiblySent == [] && rig.told.end?.cause == nil)
        rig.toService()
        #expect(rig.service.hasGoAway)
        finish(rig)
    }

    @Test("New SETTINGS change the room, and a smaller one holds back what has no stream") func settings() {
        let rig = rig(streams: 10)
        rig.service.session.changeSettings(maxConcurrentStreams: 2)
        rig.exchange()
        #expect(rig.told.room?.capacity == 4 && rig.told.room?.streams == 2)
        rig.handOut(5)
        rig.exchange()
        #expect(rig.service.requests.count == 2)
        rig.service.answer(1)
        rig.exchange()
        #expect(rig.service.requests.map(\.ticket.rawValue) == [1, 2, 3])
        rig.service.session.changeSettings(maxConcurrentStreams: 50)
        rig.exchange()
        #expect(rig.service.requests.count == 5)
        finish(rig)
    }

    @Test("A service that takes no request for the deadline is left, and what waits was not sent") func noStreams() {
        let rig = rig()
        rig.service.session.changeSettings(maxConcurrentStreams: 0)
        rig.exchange()
        rig.handOut(2)
        for _ in 0..<31 {
            rig.advance(.seconds(1))
            rig.exchange()
        }
        #expect(rig.told.end?.cause == "the service has taken no request for 30.0 seconds")
        #expect(rig.told.end?.possiblySent == [])
        finish(rig)
    }

    @Test("Asked to close, it waits for what is open until the deadline") func close() {
        let rig = rig(streams: 2)
        rig.handOut(3)
        rig.exchange()
        rig.step { $0.close(deadline: .seconds(3), at: $1) }
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [3])
        rig.advance(.seconds(2))
        rig.service.answer(1)
        rig.exchange()
        #expect(rig.told.end == nil)
        rig.advance(.seconds(1))
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [2] && rig.told.end?.cause == nil)
        finish(rig)
    }

    @Test("Asked to close with nothing open, or without patience, it ends at once") func closeAtOnce() {
        for open in [0, 2] {
            let rig = rig()
            if open > 0 { rig.handOut(open) }
            rig.exchange()
            rig.step { $0.close(deadline: open == 0 ? .seconds(3) : .zero, at: $1) }
            #expect(rig.told.end?.possiblySent?.count == open)
            finish(rig)
        }
    }

    @Test("Retired, it sends nothing more, and the refusal of its credentials says nothing of the new ones")
    func retired() {
        let rig = rig(streams: 1)
        rig.handOut(2)
        rig.exchange()
        rig.step { $0.retire(at: $1) }
        #expect(rig.told.isDraining && rig.told.tickets(.neverProcessed(.newConnection)) == [2])
        rig.service.answer(1, status: 401)
        rig.exchange()
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [1, 2])
        #expect(rig.told.end?.cause == "new credentials are in use")
        finish(rig)
    }

    @Test("Given up, what is open is possibly sent and what waits is not, and the connection goes on") func giveUp() {
        let rig = rig(streams: 1)
        rig.handOut(2)
        rig.exchange()
        rig.step { $0.giveUp("nobody wants it", at: $1) }
        #expect(rig.told.result(1) == .unknown("nobody wants it"))
        #expect(rig.told.result(2) == .notSent("nobody wants it"))
        rig.handOut(1)
        rig.exchange()
        rig.service.answer(3)
        rig.exchange()
        #expect(rig.told.confirmed.map(\.rawValue) == [3])
        finish(rig)
    }

    @Test("When the connection is lost, only what has a stream may have been sent") func lost() {
        let rig = rig(streams: 2)
        rig.handOut(5)
        rig.exchange()
        rig.step { $0.lose("the service closed the connection", at: $1) }
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [1, 2])
        // What comes behind the end is nobody's.
        rig.step { $0.lose("again", at: $1) }
        rig.advance(.seconds(100))
        finish(rig)
    }

    @Test("Answers that came with the end are answers") func answersBeforeTheEnd() {
        let rig = rig()
        rig.handOut(2)
        rig.exchange()
        rig.service.answer(1)
        let bytes = rig.service.session.takeOutput()
        rig.step { session, now in
            session.receive(bytes.span)
            session.lose("reset", at: now)
        }
        #expect(rig.told.confirmed.map(\.rawValue) == [1])
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [2])
        finish(rig)
    }

    @Test("A channel that takes no bytes is given no requests until it does") func writability() {
        let rig = rig()
        rig.step { session, _ in session.setWritable(false) }
        rig.handOut(2)
        rig.exchange()
        #expect(rig.service.requests.isEmpty)
        rig.step { session, now in
            session.setWritable(true)
            session.pump(at: now)
        }
        rig.exchange()
        #expect(rig.service.requests.count == 2)
        finish(rig)
    }

    @Test("Stream numbers run out: what has one is answered, the rest goes elsewhere") func exhausted() {
        let rig = rig { $0.firstStreamID = 0x7FFF_FFFF - 2 }
        rig.handOut(3)
        #expect(rig.told.tickets(.neverProcessed(.newConnection)) == [3] && rig.told.isDraining)
        rig.exchange()
        rig.service.answer(1, 2)
        rig.exchange()
        #expect(rig.told.end?.cause == "the connection's stream numbers have run out")
        finish(rig)
    }

    @Test("A service that breaks HTTP/2 is told so, and left") func brokenProtocol() {
        let rig = rig()
        rig.handOut(1)
        rig.exchange()
        // DATA on stream 0.
        rig.read([[0, 0, 1, 0, 0, 0, 0, 0, 0, 7]])
        #expect(rig.told.end?.possiblySent?.map(\.rawValue) == [1])
        #expect(rig.told.end?.cause?.hasPrefix("the service broke HTTP/2") == true)
        rig.toService()
        #expect(rig.service.hasGoAway)
        finish(rig)
    }
}
