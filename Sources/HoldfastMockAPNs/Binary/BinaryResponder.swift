import HoldfastMocking
import NIOCore

/// The protocol logic of one connection: notifications in; ledger lines, and at most one error, out.
///
/// A value that writes to no socket, no file and no shared counter: ``MockBinaryConnection`` does.
struct BinaryResponder {
    /// An error, and the way in which it is answered.
    struct Failure {
        var status: MockBinaryStatus
        var identifier: UInt32
        var isAnswered = true
        var delay = Duration.zero
        var pieces: MockBinaryAnswer.Pieces?
        var ending = MockBinaryAnswer.Ending.close

        /// The error response: command 8.
        var bytes: [UInt8] {
            [8, status.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: identifier >> (24 - 8 * UInt32($0))) }
        }
    }

    /// An action for the connection, due before anything more is read.
    enum Step {
        case fail(Failure)
        /// Ends without an error.
        case end(MockBinaryAnswer.Ending)
    }

    private let service: MockBinaryService
    private let connection: Int
    private var reader: BinaryFrameReader
    private var number = 0
    private var firstIdentifier: UInt32 = 0
    private var lastTaken: UInt32 = 0
    /// Whether further bytes are thrown away.
    private var isOver = false

    /// The counts to be added to the server's counters.
    private var tally = MockBinaryCounters()
    /// The ledger lines to be written before an error response may go out.
    var ledgerLines: [UInt8] = []
    private var exchanges: [MockBinaryExchange] = []

    init(service: MockBinaryService, connection: Int) {
        self.service = service
        self.connection = connection
        reader = BinaryFrameReader(payloadLimit: service.configuration.payloadLimit)
    }

    /// The number of bytes that wait for ``work()`` or for the rest of their notification.
    var waitingByteCount: Int { reader.waitingByteCount }

    /// Takes bytes, split anywhere. ``work()`` processes them.
    mutating func receive(_ bytes: ByteBuffer) {
        if isOver { tally.discardedBytes += bytes.readableBytes } else { reader.receive(bytes) }
    }

    /// Processes the bytes up to the first step for the connection; nil when none is left.
    mutating func work() -> Step? {
        guard !isOver else { return nil }
        let behavior = service.behavior.withLock { $0 }
        while let frame = reader.next() {
            number += 1
            tally.notifications += 1
            if number == 1 { firstIdentifier = frame.identifier }
            let fault = frame.fault ?? service.rejection(of: frame, in: reader.buffer.readableBytesUInt8Span)
            if behavior == nil, fault == nil, service.configuration.observer == nil {
                take(frame)
                continue
            }
            let notification = describe(frame, fault)
            if let step = deal(with: frame, notification, behavior?.decide(notification) ?? MockBinaryAnswer()) {
                return step
            }
        }
        return nil
    }

    private mutating func deal(
        with frame: BinaryFrameReader.Frame, _ notification: MockBinaryNotification, _ answer: MockBinaryAnswer
    ) -> Step? {
        var status: MockBinaryStatus?
        switch answer.verdict.kind {
        case .validated: status = notification.fault
        case .taken: break
        case .refused(let other): status = other
        case .lastGood: status = .shutdown
        }
        let isTaken = status == nil || status == .shutdown
        if isTaken { take(frame) } else if let status { tally.refused[status, default: 0] += 1 }
        if service.configuration.observer != nil {
            exchanges.append(
                MockBinaryExchange(
                    notification: notification, isTaken: isTaken, status: answer.isAnswered ? status : nil))
        }
        guard let status else { return answer.ending.map { ending in interrupt(ending) } }
        let identifier: UInt32 =
            switch answer.identifier {
            case .own: notification.identifier
            case .value(let value): value
            case .firstOfConnection: firstIdentifier
            }
        discardTheRest()
        return .fail(
            Failure(
                status: status, identifier: identifier, isAnswered: answer.isAnswered, delay: answer.delay,
                pieces: answer.pieces, ending: answer.ending ?? .close))
    }

    private mutating func interrupt(_ ending: MockBinaryAnswer.Ending) -> Step {
        if case .stall = ending { return .end(ending) }
        discardTheRest()
        return .end(ending)
    }

    /// Shuts down: processed notifications stand, unread ones are not looked at.
    mutating func shutDown() -> Failure? {
        guard !isOver else { return nil }
        discardTheRest()
        return Failure(status: .shutdown, identifier: lastTaken)
    }

    private mutating func discardTheRest() {
        isOver = true
        tally.discardedBytes += reader.waitingByteCount
        reader = BinaryFrameReader(payloadLimit: reader.payloadLimit)
    }

    private mutating func take(_ frame: BinaryFrameReader.Frame) {
        tally.taken += 1
        lastTaken = frame.identifier
        guard service.ledger != nil else { return }
        let buffer = reader.buffer
        let bytes = buffer.readableBytesUInt8Span
        BinaryLedgerLine.append(
            token: bytes.extracting(frame.token), identifier: frame.identifier,
            payload: bytes.extracting(frame.payload),
            to: &ledgerLines)
    }

    private func describe(_ frame: BinaryFrameReader.Frame, _ fault: MockBinaryStatus?) -> MockBinaryNotification {
        MockBinaryNotification(
            command: frame.command, identifier: frame.identifier, token: copy(frame.token),
            payload: copy(frame.payload), expiration: frame.expiration, priority: frame.priority,
            connection: connection, number: number, fault: fault)
    }

    private func copy(_ range: Range<Int>) -> [UInt8] {
        reader.buffer.getBytes(at: reader.buffer.readerIndex + range.lowerBound, length: range.count) ?? []
    }

    /// The counts since the last call, with a response that was written.
    mutating func takeTally() -> MockBinaryCounters {
        var taken = MockBinaryCounters()
        swap(&taken, &tally)
        return taken
    }

    mutating func takeExchanges() -> [MockBinaryExchange] {
        var taken: [MockBinaryExchange] = []
        swap(&taken, &exchanges)
        return taken
    }
}
