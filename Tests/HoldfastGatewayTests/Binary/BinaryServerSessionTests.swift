import Holdfast
import HoldfastLegacyAPNs
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastGateway

/// The machine alone, step by step.
@Suite("What a connection of the binary protocol decides") struct BinaryServerSessionTests {
    /// A session with hands: what it wants submitted, and what it says at the end.
    private struct Desk {
        var session: BinaryServerSession
        var now = NIODeadline.uptimeNanoseconds(1)
        var uid: UInt64 = 0

        /// - Parameter tellsErrors: about what is on disk.
        init(topic: String? = "com.example.app", limit: Int = 1000, tellsErrors: Bool = false) {
            let errors = BinaryServerSession.ErrorTerms(
                sender: [], repeats: BinaryRepeats(places: SharedPlaces(limit: 100)), patience: .seconds(1))
            session = BinaryServerSession(
                topic: topic, unstoredLifetime: .seconds(3600), limit: limit, patience: .seconds(30),
                errors: tellsErrors ? errors : nil)
        }

        mutating func receive(_ requests: [BinaryRequest]) {
            var bytes: [UInt8] = []
            for request in requests { request.append(to: &bytes) }
            session.receive(bytes.span)
        }

        @discardableResult
        mutating func read(_ allowance: Int = .max) -> Int {
            session.read(atMost: allowance, now: WallTime(seconds: 1_700_000_000))
        }

        /// The number of notifications that are to be submitted; nil when none are.
        mutating func batch() -> Int? {
            if case .submit(let batch)? = session.next(now: now) { batch.count } else { nil }
        }

        mutating func accept(_ count: Int, then last: Receipt? = nil) {
            var receipts: [Receipt] = (0..<count).map { _ in
                uid += 1
                return .accepted(UID(uid))
            }
            if let last { receipts.append(last) }
            session.committed(receipts, now: now, canTell: session.tellsErrors)
        }

        mutating func answer() -> ErrorResponse? {
            if case .answer(let response)? = session.next(now: now) { response } else { nil }
        }

        mutating func isIdle() -> Bool { if case nil = session.next(now: now) { true } else { false } }
        /// All that was counted.
        var tally: IngressFigures.Values {
            var copy = session
            return copy.takeTally()
        }
        mutating func closes() -> Bool { if case .close? = session.next(now: now) { true } else { false } }
    }

    private func request(_ identifier: UInt32?, token: [UInt8]? = SampleNotification.token(1).bytes) -> BinaryRequest {
        BinaryRequest(command: 2, identifier: identifier, token: token, payload: Array(#"{"aps":{"alert":"a"}}"#.utf8))
    }

    private func requests(_ identifiers: ClosedRange<UInt32>) -> [BinaryRequest] { identifiers.map { request($0) } }

    private static func refused(_ reason: Reason) -> Receipt { .refused(Refusal(reason, "no")) }

    @Test("An error is said only when everything before it is on disk, and nothing behind it is submitted")
    func errorBehindCommit() {
        var desk = Desk()
        desk.receive(requests(1...3) + [request(4, token: [])] + requests(5...9))
        desk.read()
        #expect(desk.batch() == 3)
        #expect(desk.isIdle() == true)
        desk.accept(3)
        #expect(desk.answer() == ErrorResponse(status: .missingToken, identifier: 4))
        #expect(desk.isIdle() == true)
        #expect(desk.tally.accepted == 3)
    }

    @Test("While a batch is with the journal the next one waits, since an error of the first would discard it")
    func oneBatch() {
        var desk = Desk()
        desk.receive(requests(1...2))
        desk.read()
        #expect(desk.batch() == 2)
        desk.receive(requests(3...5))
        desk.read()
        #expect(desk.batch() == nil)
        desk.accept(1, then: Self.refused(.blacklisted))
        #expect(desk.answer() == ErrorResponse(status: .invalidToken, identifier: 2))
        #expect(desk.tally.accepted == 1)
    }

    @Test("The error that comes first is the one that is said")
    func firstError() {
        var desk = Desk()
        desk.receive(requests(1...2) + [request(3, token: [])])
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(0, then: Self.refused(.payloadTooLarge))
        #expect(desk.answer() == ErrorResponse(status: .invalidPayloadSize, identifier: 1))
    }

    @Test("Behind one that the push service rejected, what was read goes to disk before the error is said")
    func rejectionBeforeWhatWasRead() throws {
        var desk = Desk(tellsErrors: true)
        desk.receive(requests(1...2))
        desk.read()
        #expect(desk.batch() == 2)
        desk.receive(requests(3...5))
        desk.read()
        desk.accept(2)
        let first = try #require(desk.session.takeTracked().first)
        desk.session.ended(first.number, .rejected(.invalidToken), now: desk.now)
        #expect(desk.batch() == 3)
        #expect(desk.answer() == nil)
        desk.accept(3)
        #expect(desk.answer() == ErrorResponse(status: .invalidToken, identifier: 1))
        #expect(desk.tally.accepted == 5 && desk.tally.unanswered == 0)
    }

    @Test("Beyond the limit of what is not on disk nothing is read")
    func window() {
        var desk = Desk(limit: 3)
        desk.receive(requests(1...10))
        #expect(desk.read() == 3)
        #expect(!desk.session.wantsInput)
        #expect(desk.batch() == 3)
        #expect(desk.read() == 0)
        desk.accept(3)
        #expect(desk.read() == 3)
        #expect(desk.batch() == 3)
        desk.accept(3)
        #expect(desk.read() == 3)
        #expect(desk.batch() == 3)
        desk.accept(3)
        #expect(desk.read() == 1)
        #expect(desk.session.wantsInput)
    }

    @Test("A drain puts on disk what was read, and names the last of it")
    func drain() {
        var other = Desk()
        other.receive(requests(7...9))
        other.read()
        #expect(other.batch() == 3)
        other.session.drain()
        #expect(other.isIdle() == true)
        other.accept(3)
        #expect(other.answer() == ErrorResponse(status: .shutdown, identifier: 9))
    }

    @Test("With nothing on disk a drain names 0; to a client that uses 0 as a name it says nothing")
    func drainOfNothing() {
        var desk = Desk()
        desk.session.drain()
        #expect(desk.answer() == ErrorResponse(status: .shutdown, identifier: 0))
        var zero = Desk()
        zero.receive(requests(0...3))
        zero.read()
        #expect(zero.batch() == 4)
        zero.session.drain()
        zero.accept(0, then: Self.refused(.shuttingDown))
        #expect(zero.closes() == true)
        #expect(zero.tally.unanswered == 4)
    }

    @Test("A journal without room is asked again, and at the limit the client hears what is on disk")
    func full() {
        var desk = Desk()
        desk.receive(requests(1...4))
        desk.read(2)
        #expect(desk.batch() == 2)
        desk.accept(2)
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(0, then: Self.refused(.journalFull))
        #expect(desk.session.isWaitingForJournal)
        #expect(desk.batch() == nil)
        desk.now = desk.now + .seconds(29)
        desk.session.retry(now: desk.now)
        #expect(desk.batch() == 2)
        desk.accept(0, then: Self.refused(.journalFull))
        desk.now = desk.now + .seconds(1)
        desk.session.retry(now: desk.now)
        #expect(desk.answer() == ErrorResponse(status: .shutdown, identifier: 2))
        #expect(desk.tally.unanswered == 2)
    }

    @Test("The patience with a full journal begins anew when it takes something")
    func roomAgain() {
        var desk = Desk()
        desk.receive(requests(1...2))
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(0, then: Self.refused(.journalFull))
        desk.now = desk.now + .seconds(29)
        desk.session.retry(now: desk.now)
        #expect(desk.batch() == 2)
        desk.accept(1, then: Self.refused(.journalFull))
        desk.now = desk.now + .seconds(29)
        desk.session.retry(now: desk.now)
        #expect(desk.batch() == 1)
        desk.accept(1)
        #expect(!desk.session.isWaitingForJournal)
    }

    @Test("A commit of which nobody knows ends the connection without a word")
    func undetermined() {
        var desk = Desk()
        desk.receive(requests(1...2) + [request(3, token: [])])
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(0, then: .undetermined(JournalError(.undetermined, "?")))
        #expect(desk.closes() == true)
    }

    @Test("A barrier is answered for what is on disk alone")
    func barrier() {
        var desk = Desk()
        desk.receive(requests(1...2) + [BinaryRequest(command: 1, identifier: 3, token: [], payload: [1])])
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(0, then: Self.refused(.journalFull))
        desk.now = desk.now + .seconds(30)
        desk.session.retry(now: desk.now)
        // Not the barrier's answer, which would prove 1 and 2 taken.
        #expect(desk.answer() == ErrorResponse(status: .shutdown, identifier: 0))
    }

    @Test("What a client wrote before it closed its side is put on disk, and then ours is closed")
    func inputEnded() {
        var desk = Desk(limit: 2)
        desk.receive(requests(1...5))
        desk.session.inputEnded()
        for count in [2, 2, 1] {
            #expect(desk.read() == count)
            #expect(desk.batch() == count)
            desk.accept(count)
        }
        desk.read()
        #expect(desk.closes() == true)
        #expect(desk.tally.accepted == 5)
    }

    @Test("A client that ends in the middle of a notification is counted, and told which one is the last on disk")
    func incomplete() {
        var desk = Desk()
        desk.receive(requests(1...1))
        desk.session.receive([2, 0, 0].span)
        // It may be looked at before the end comes.
        #expect(desk.read() == 1)
        #expect(desk.batch() == 1)
        desk.session.inputEnded()
        desk.accept(1)
        desk.read()
        #expect(desk.answer() == ErrorResponse(status: .shutdown, identifier: 1))
        #expect(desk.tally.accepted == 1 && desk.tally.faults == ["incomplete": 1])
    }

    @Test("A connection that breaks in the middle of a notification is counted, and what came whole is put on disk")
    func broken() {
        var desk = Desk()
        desk.receive(requests(1...2))
        desk.session.receive([2, 0, 0].span)
        #expect(desk.read() == 2)
        desk.session.disconnected()
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(2)
        desk.read()
        desk.session.disconnected()
        desk.read()
        #expect(desk.tally.accepted == 2 && desk.tally.faults == ["incomplete": 1])
    }

    @Test("What is over when its turn comes, and was not when it was read, becomes one attempt")
    func lateExpiry() {
        var desk = Desk()
        var one = request(1)
        one.expiration = 1_700_000_001
        desk.receive([one])
        desk.read()
        #expect(desk.batch() == 1)
        desk.accept(0, then: Self.refused(.badExpirationDate))
        guard case .submit(let again)? = desk.session.next(now: desk.now) else {
            Issue.record("nothing is submitted")
            return
        }
        #expect(again.map(\.expiration) == [.once])
    }

    @Test("Bytes that are no request are refused behind what came before them")
    func garbage() {
        var desk = Desk()
        desk.receive(requests(1...2))
        desk.session.receive(Array("GET / HTTP/1.1\r\n".utf8).span)
        desk.read()
        #expect(desk.batch() == 2)
        desk.accept(2)
        #expect(desk.answer() == ErrorResponse(status: .processingError, identifier: 0))
        #expect(desk.tally.faults == ["protocol": 1])
    }

    @Test("Without a topic of the listener or the certificate each request lacks one")
    func noTopic() {
        var desk = Desk(topic: nil)
        desk.receive(requests(5...6))
        desk.read()
        #expect(desk.answer() == ErrorResponse(status: .missingTopic, identifier: 5))
    }
}
