import NIOCore
import Testing

@testable import HoldfastGateway

@Suite("When a client has had its time")
struct ConnectionClockTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let limits = ListenerLimits()

    private func after(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    @Test("A client that never speaks the protocol is closed at the handshake limit, and not before")
    func handshake() {
        let clock = ConnectionClock(limits, now: start)
        #expect(clock.verdict(at: after(9), isOwed: false) == .goOn)
        #expect(clock.verdict(at: after(10), isOwed: false) == .close(.handshake))
        #expect(clock.next(after: start) == after(10))
    }

    @Test("A client that has shown no credentials has its minute, and as long as it likes once it has")
    func firstRequest() {
        var clock = ConnectionClock(limits, isStranger: true, now: start)
        clock.spoke()
        clock.heard(at: after(59))
        clock.swept(at: after(59), taken: nil)
        #expect(clock.verdict(at: after(59), isOwed: false) == .goOn)
        #expect(clock.next(after: after(59)) == after(60))
        var other = clock
        #expect(clock.verdict(at: after(60), isOwed: true) == .close(.unproven))
        other.proved()
        #expect(other.verdict(at: after(60), isOwed: false) == .goOn)
    }

    @Test("A client that has to show credentials from now on, or others, has a minute from now")
    func doubted() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.doubted(at: after(100))
        clock.doubted(at: after(120))
        clock.heard(at: after(159))
        clock.swept(at: after(159), taken: nil)
        #expect(clock.next(after: after(159)) == after(160))
        #expect(clock.verdict(at: after(159), isOwed: false) == .goOn)
        #expect(clock.verdict(at: after(160), isOwed: false) == .close(.unproven))
        clock.proved()
        #expect(clock.verdict(at: after(160), isOwed: false) == .goOn)
    }

    @Test("What the kernel does not take counts from when it last took something")
    func write() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.wrote(at: after(1))
        clock.wrote(at: after(2))
        #expect(clock.next(after: after(2)) == after(30))
        clock.written(at: after(20))
        clock.swept(at: after(30), taken: nil)
        #expect(clock.verdict(at: after(49), isOwed: true) == .goOn)
        #expect(clock.verdict(at: after(50), isOwed: true) == .close(.write))
        clock.written(at: after(50))
        #expect(clock.verdict(at: after(59), isOwed: true) == .goOn)
    }

    @Test("Silence ends a connection that is owed nothing, and none that is")
    func idle() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.heard(at: after(100))
        clock.swept(at: after(3699), taken: nil)
        #expect(clock.verdict(at: after(3699), isOwed: false) == .goOn)
        #expect(clock.verdict(at: after(3700), isOwed: true) == .goOn)
        #expect(clock.verdict(at: after(3700), isOwed: false) == .close(.idle))
    }

    @Test(
        "What a shut window holds back counts from when some of such last went out, and what is heard changes nothing")
    func held() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.held(100, sent: 0, at: after(1))
        // More waits, and the window is as it was.
        clock.held(200, sent: 0, at: after(10))
        #expect(clock.next(after: after(10)) == after(30))
        clock.swept(at: after(30), taken: nil)
        clock.heard(at: after(30))
        #expect(clock.next(after: after(30)) == after(31))
        #expect(clock.verdict(at: after(30), isOwed: false) == .goOn)
        #expect(clock.verdict(at: after(31), isOwed: false) == .close(.write))
        clock.held(199, sent: 1, at: after(31))
        #expect(clock.verdict(at: after(59), isOwed: false) == .goOn)
        clock.held(0, sent: 200, at: after(59))
        #expect(!clock.isHolding)
        clock.held(1, sent: 200, at: after(60))
        clock.swept(at: after(60), taken: nil)
        #expect(clock.verdict(at: after(89), isOwed: false) == .goOn)
    }

    @Test("A client whose kernel takes nothing between two sweeps is closed, and one that takes something is not")
    func stuck() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.swept(at: after(30), taken: 500)
        #expect(clock.verdict(at: after(31), isOwed: false) == .goOn)
        clock.swept(at: after(60), taken: 501)
        #expect(clock.verdict(at: after(61), isOwed: false) == .goOn)
        // Everything, and then as much as before.
        clock.swept(at: after(90), taken: nil)
        clock.swept(at: after(120), taken: 501)
        #expect(clock.verdict(at: after(121), isOwed: false) == .goOn)
        clock.swept(at: after(150), taken: 501)
        #expect(clock.verdict(at: after(150), isOwed: false) == .close(.write))
        #expect(clock.next(after: after(150)) < after(151))
    }

    @Test("Requests that do not end are looked for at the write limit, however busy the connection is")
    func sweep() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.heard(at: after(30))
        #expect(clock.verdict(at: after(30), isOwed: true) == .sweep)
        clock.swept(at: after(30), taken: nil)
        #expect(clock.verdict(at: after(30), isOwed: true) == .goOn)
    }
}
