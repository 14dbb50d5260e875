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

    @Test("What the kernel does not take counts from when it last took something")
    func write() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.wrote(at: after(1))
        clock.wrote(at: after(2))
        #expect(clock.next(after: after(2)) == after(30))
        clock.written(at: after(20))
        clock.swept(at: after(30))
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
        clock.swept(at: after(3699))
        #expect(clock.verdict(at: after(3699), isOwed: false) == .goOn)
        #expect(clock.verdict(at: after(3700), isOwed: true) == .goOn)
        #expect(clock.verdict(at: after(3700), isOwed: false) == .close(.idle))
    }

    @Test("Requests that do not end are looked for at the write limit, however busy the connection is")
    func sweep() {
        var clock = ConnectionClock(limits, now: start)
        clock.spoke()
        clock.heard(at: after(30))
        #expect(clock.verdict(at: after(30), isOwed: true) == .sweep)
        clock.swept(at: after(30))
        #expect(clock.verdict(at: after(30), isOwed: true) == .goOn)
    }
}
