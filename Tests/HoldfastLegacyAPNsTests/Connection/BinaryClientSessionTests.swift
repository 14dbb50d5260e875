import Holdfast
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastLegacyAPNs

@Suite("The client's side of one connection, step by step") struct BinaryClientSessionTests {
    /// So many written, and perhaps a barrier behind them.
    private func session(_ count: UInt64, barrier: Bool = false, first: UInt32 = 1) -> BinaryClientSession {
        var session = BinaryClientSession(firstIdentifier: first)
        if count > 0 { session.append([Entries.handOut(1...count)]) }
        if barrier { session.writeBarrier() }
        var buffer = ByteBuffer()
        while session.hasOutput { session.write(to: &buffer, limit: .max) }
        return session
    }

    private func conclude(
        _ status: UInt8, _ identifier: UInt32, _ session: BinaryClientSession
    ) -> BinaryClientSession.Conclusion {
        session.conclude(ErrorResponse(status: BinaryStatus(rawValue: status), identifier: identifier))
    }

    private func read(_ buffer: ByteBuffer) throws -> [BinaryRequest] {
        var reader = BinaryRequestReader()
        reader.append(buffer.readableBytesUInt8Span)
        var requests: [BinaryRequest] = []
        while let request = try reader.next() { requests.append(request) }
        return requests
    }

    @Test("Four sent, error 8 for the second: it is refused for its token, by its position") func refused() throws {
        guard case .payloadError(let error) = conclude(8, 2, session(4)) else {
            Issue.record("no payload error")
            return
        }
        #expect(error.position == .position(2))
        guard case .refused(let result) = error.kind else {
            Issue.record("not refused")
            return
        }
        #expect(result.verdict == .rejected(.suspectToken))
    }

    @Test("Status 10 names the last good one, and fails nobody") func shutdown() {
        #expect(
            conclude(10, 3, session(4)) == .payloadError(PayloadError(position: .position(3), kind: .lastGood)))
    }

    @Test("An identifier that was never given out proves nothing") func neverGivenOut() {
        #expect(conclude(8, 5, session(4)) == .unknown)
        #expect(conclude(10, 0xFFFF_FF00, session(4)) == .unknown)
    }

    @Test("Identifier 0 proves nothing, except for a barrier", arguments: [1, 7, 8, 10, 128, 255] as [UInt8])
    func zero(status: UInt8) {
        #expect(conclude(status, 0, session(4)) == .unknown)
        #expect(conclude(status, 0, session(4, barrier: true)) == .unknown)
        #expect(conclude(2, 0, session(4)) == .unknown)
    }

    @Test(
        "A barrier proves with status 2 or 5 and its identifier or 0", arguments: [2, 5] as [UInt8], [0, 5] as [UInt32])
    func barrier(status: UInt8, identifier: UInt32) {
        #expect(conclude(status, identifier, session(4, barrier: true)) == .barrierAnswered(through: 4))
    }

    @Test("A barrier's identifier with another status proves nothing", arguments: [1, 8, 10, 128] as [UInt8])
    func barrierWithOtherStatus(status: UInt8) {
        #expect(conclude(status, 5, session(4, barrier: true)) == .unknown)
    }

    @Test("An error that names an entry before the barrier is that entry's") func earlierThanBarrier() {
        guard case .payloadError(let error) = conclude(8, 4, session(4, barrier: true)) else {
            Issue.record("no payload error")
            return
        }
        #expect(error.position == .position(4))
        #expect(
            conclude(10, 4, session(4, barrier: true))
                == .payloadError(PayloadError(position: .position(4), kind: .lastGood)))
    }

    @Test("Identifiers across the 32-bit wrap: the order holds, and answers find their positions") func wrap() throws {
        var session = BinaryClientSession(firstIdentifier: .max - 1)
        session.append([Entries.handOut(1...5)])
        var buffer = ByteBuffer()
        session.write(to: &buffer, limit: .max)
        let requests = try read(buffer)
        #expect(requests.map(\.identifier) == [.max - 1, .max, 1, 2, 3])
        #expect(requests.map(\.payload) == (1...5).map { SampleNotification.numbered($0).payload })
        #expect(conclude(10, 1, session) == .payloadError(PayloadError(position: .position(3), kind: .lastGood)))
        #expect(conclude(10, .max, session) == .payloadError(PayloadError(position: .position(2), kind: .lastGood)))
    }

    @Test("Frames go out in order, as many as the limit lets, and the barrier behind all of them") func order() throws {
        var session = BinaryClientSession()
        session.append([Entries.handOut(1...10), Entries.handOut(11...11)])
        session.append([Entries.handOut(12...30)])
        session.writeBarrier()
        // Behind the barrier nothing is written.
        session.append([Entries.handOut(31...40)])
        var all = ByteBuffer()
        var writes = 0
        while session.hasOutput {
            var buffer = ByteBuffer()
            session.write(to: &buffer, limit: 500)
            #expect(buffer.readableBytes < 500 + 200)
            all.writeBuffer(&buffer)
            writes += 1
        }
        let requests = try read(all)
        #expect(writes > 3)
        #expect(requests.map(\.identifier) == (1...31).map { UInt32($0) })
        #expect(requests.dropLast().allSatisfy { $0.token?.count == 32 })
        #expect(requests.last?.token == [])
        #expect(session.written == 30)
        #expect(session.awaitsAnswer)
    }

    @Test("What is stopped writes nothing more but a barrier") func stopped() throws {
        var session = session(3)
        session.append([Entries.handOut(4...9)])
        session.stop()
        session.append([Entries.handOut(10...12)])
        #expect(!session.hasOutput)
        session.writeBarrier()
        var buffer = ByteBuffer()
        session.write(to: &buffer, limit: .max)
        #expect(try read(buffer).map(\.token) == [[]])
        #expect(conclude(2, 4, session) == .barrierAnswered(through: 3))
    }

    @Test("An entry that can't be read stops the writing before it") func damage() throws {
        let good = Entries.handOut(1...2)
        let broken = EntryBatch(
            bytes: [1, 2, 3], items: [EntryBatch.Item(uid: UID(3), attempts: 0, range: 0..<3)])
        var session = BinaryClientSession()
        session.append([good, HandOut(entries: broken, tickets: [.position(3)])])
        var buffer = ByteBuffer()
        session.write(to: &buffer, limit: .max)
        #expect(session.written == 2)
        #expect(session.damage == .truncated)
        #expect(!session.hasOutput)
    }
}
