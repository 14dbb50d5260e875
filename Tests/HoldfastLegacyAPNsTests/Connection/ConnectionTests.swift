import Holdfast
import HoldfastMockAPNs
import HoldfastMocking
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastLegacyAPNs

/// One connection over a real socket, to the mock.
@Suite("A connection of the binary protocol", .timeLimit(.minutes(2))) struct ConnectionTests {
    private func numbered(_ positions: ClosedRange<UInt64>, payload: Int) -> HandOut {
        Entries.handOut(
            positions.map { SampleNotification.numbered(Int($0), payloadByteCount: payload) },
            from: positions.lowerBound)
    }

    @Test("A peer that stops reading: what never left is not called sent, and the connection is given up for dead")
    func stalledPeer() async throws {
        // Not read from the first notification on: what fits into the kernels' buffers leaves, the rest does not.
        let behavior = MockBinaryBehavior.ending(.stall(nil), after: 1)
        try await MockedService.run(isCleartext: true, behavior: behavior) { service in
            let recorder = Recorder()
            let connection = try await service.connector { $0.writeDeadline = .seconds(2) }.dial(recorder)
            // 33 MB: more than two kernels hold.
            connection.send(numbered(1...16_384, payload: 2000))
            let end = try #require(await recorder.end())
            let sent = recorder.now.sentThrough
            #expect(sent < 16_384)
            #expect(end.cause?.contains("taken nothing") == true)
            let possiblySent = try #require(end.possiblySentThrough).rawValue
            #expect(possiblySent >= sent)
            #expect(possiblySent < 16_384)
        }
    }

    @Test("A close without an answer: what was written is unknown, the rest was never sent", arguments: [true, false])
    func silentClose(isCleartext: Bool) async throws {
        let behavior = MockBinaryBehavior.ending(.close, after: 3)
        try await MockedService.run(isCleartext: isCleartext, behavior: behavior) { service in
            let recorder = Recorder()
            let connection = try await service.connector().dial(recorder)
            connection.send(Entries.handOut(1...5))
            let end = try #require(await recorder.end())
            #expect(end.possiblySentThrough == .position(5))
            #expect(end.cause != nil)
            #expect(recorder.now.error == nil)
        }
    }

    @Test("An error response in single bytes is one error response", arguments: [true, false])
    func splitAnswer(isCleartext: Bool) async throws {
        let pieces = MockBinaryAnswer.Pieces(every: 1, pause: .milliseconds(2))
        let behavior = MockBinaryBehavior.notification(3, MockBinaryAnswer(.refused(.invalidToken), pieces: pieces))
        try await MockedService.run(isCleartext: isCleartext, behavior: behavior) { service in
            let recorder = Recorder()
            let connection = try await service.connector().dial(recorder)
            connection.send(Entries.handOut(1...5))
            #expect(await recorder.end() != nil)
            #expect(recorder.now.error?.position == .position(3))
        }
    }

    @Test(
        "An error response is read although the connection is reset behind it while we write", arguments: [true, false])
    func resetBehindAnswer(isCleartext: Bool) async throws {
        let behavior = MockBinaryBehavior.notification(
            100, MockBinaryAnswer(.refused(.invalidPayloadSize), ending: .reset))
        try await MockedService.run(isCleartext: isCleartext, behavior: behavior) { service in
            let handOut = numbered(1...2000, payload: 1000)
            // A race, so more than once.
            for _ in 0..<10 {
                let recorder = Recorder()
                let connection = try await service.connector().dial(recorder)
                connection.send(handOut)
                let end = try #require(await recorder.end())
                #expect(recorder.now.error?.position == .position(100), "\(end.cause ?? "")")
            }
        }
    }

    @Test("Status 10 is the last good one", arguments: [true, false]) func lastGood(isCleartext: Bool) async throws {
        try await MockedService.run(isCleartext: isCleartext, behavior: .shuttingDown(after: 3)) { service in
            let recorder = Recorder()
            let connection = try await service.connector().dial(recorder)
            connection.send(Entries.handOut(1...5))
            #expect(await recorder.end() != nil)
            #expect(recorder.now.error == PayloadError(position: .position(3), kind: .lastGood))
        }
    }

    @Test("Identifier 0 with another status than a barrier's names nobody: what was written is unknown")
    func zero() async throws {
        let behavior = MockBinaryBehavior.notification(
            2, MockBinaryAnswer(.refused(.invalidToken), identifier: .value(0)))
        try await MockedService.run(behavior: behavior) { service in
            let recorder = Recorder()
            let connection = try await service.connector().dial(recorder)
            connection.send(Entries.handOut(1...5))
            let end = try #require(await recorder.end())
            #expect(recorder.now.error == nil)
            #expect(end.possiblySentThrough == .position(5))
        }
    }

    @Test("An idle connection is not used again, but for a barrier") func idle() async throws {
        try await MockedService.run { service in
            let recorder = Recorder()
            let connection = try await service.connector { $0.idleLimit = .milliseconds(500) }.dial(recorder)
            connection.send(Entries.handOut(1...2))
            #expect(await recorder.wait { $0.isDraining })
            connection.send(Entries.handOut(3...4))
            connection.writeBarrier()
            let end = try #require(await recorder.end())
            #expect(recorder.now.barrierAnswered == 2)
            #expect(end.possiblySentThrough == .position(2))
            #expect(service.mock.counters.taken == 2)
        }
    }

    @Test("Closing lets what was given leave, and says that nobody asked otherwise") func close() async throws {
        try await MockedService.run { service in
            let recorder = Recorder()
            let connection = try await service.connector().dial(recorder)
            connection.send(numbered(1...5000, payload: 500))
            connection.close(deadline: .seconds(20))
            let end = try #require(await recorder.end())
            #expect(end.cause == nil)
            #expect(recorder.now.sentThrough == 5000)
            #expect(end.possiblySentThrough == .position(5000))
        }
    }

    @Test("Listening is not answered while an error has come that was not reported") func listening() async throws {
        let behavior = MockBinaryBehavior.notification(1, MockBinaryAnswer(.refused(.invalidToken)))
        try await MockedService.run(behavior: behavior) { service in
            for _ in 0..<10 {
                let recorder = Recorder()
                let connection = try await service.connector().dial(recorder)
                connection.send(Entries.handOut(1...1))
                for stamp in 0..<200 as Range<UInt64> { connection.listen(stamp: stamp) }
                #expect(await recorder.end() != nil)
                #expect(recorder.now.error != nil)
            }
        }
    }
}
