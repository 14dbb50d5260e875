internal import Holdfast
internal import HoldfastLegacyAPNs
internal import NIOCore

/// Decides for one connection of the binary protocol: bytes in; batches for the journal, and at most one answer, out.
///
/// In this protocol silence is success, and an error about one notification says that everything before it was taken and
/// everything behind it was not. So one batch at a time is with the journal, nothing behind a refused notification is ever
/// submitted, and no answer is given before everything that it proves taken is on disk.
///
/// A pure machine: time comes in as an argument.
struct BinaryServerSession: Sendable {
    enum Step: Sendable {
        /// To be submitted up to the first refusal; ``committed(_:now:)`` takes the receipts.
        case submit([PushNotification])
        /// The one thing that is ever said. Then our side is closed.
        case answer(ErrorResponse)
        /// The end, without a word.
        case close
    }

    /// Why nothing more is taken.
    fileprivate enum Ending: Sendable {
        /// This is wrong with the first notification that was not taken.
        case fault(ErrorResponse)
        /// We go, and name the last one that is on disk.
        case shutdown
        /// The client has said all it had to say.
        case inputEnded
        /// Nobody can say what is on disk.
        case silence
        /// Answered, or closed.
        case over
    }

    private struct Waiting: Sendable {
        var notification: PushNotification
        let identifier: UInt32?
    }

    /// The most notifications of one commit: the next has to wait for it.
    private static let greatestBatch = 5000

    /// The most notifications that were read and are not on disk.
    private let limit: Int
    /// Nil where neither the listener nor the client's certificate has one.
    private let translation: BinaryTranslation?
    private let patience: TimeAmount
    private var reader = BinaryRequestReader()
    /// Whether the reader may have a whole request.
    private var hasUnread = false
    /// Read and not on disk, in order; the first ``submitted`` of them are with the journal.
    private var waiting: ArraySlice<Waiting> = []
    private var submitted = 0
    /// Since when the journal takes nothing; nil while it does.
    private var refusedSince: NIODeadline?
    /// What the journal said last of why.
    private(set) var journalTrouble: String?
    /// Whether the journal is left alone until it is to be asked again.
    private var isHolding = false
    private var ending: Ending?
    private var lastCommitted: UInt32?
    /// A client for which 0 is a name can't be told "none" by it.
    private var usesZero = false
    private var tally = IngressFigures.Values()

    /// - Parameters:
    ///   - unstoredLifetime: for how long an expiration of 0 is tried; zero is one attempt.
    ///   - limit: notifications; at least 1.
    ///   - patience: how long the journal may take nothing until the client is sent away.
    init(topic: String?, unstoredLifetime: Duration, limit: Int, patience: TimeAmount) {
        translation = topic.map { BinaryTranslation(topic: $0, unstoredLifetime: unstoredLifetime) }
        self.limit = max(limit, 1)
        self.patience = patience
    }

    // MARK: What is asked of it

    /// Whether to read from the socket: not while so much waits as may. Behind an error everything is read, and thrown
    /// away.
    var wantsInput: Bool { ending != nil || waiting.count < limit && !hasUnread }

    /// Whether the journal takes nothing, and is to be asked again after a while: ``retry(now:)``.
    var isWaitingForJournal: Bool { isHolding && ending.isGoingOn }

    /// Whether the end has not begun.
    var isOpen: Bool { ending == nil }

    /// What happened since the last time.
    mutating func takeTally() -> IngressFigures.Values {
        defer { tally = IngressFigures.Values() }
        return tally
    }

    // MARK: What happens

    /// Takes bytes, split anywhere.
    mutating func receive(_ bytes: Span<UInt8>) {
        guard ending == nil else { return }
        reader.append(bytes)
        hasUnread = true
    }

    /// Reads requests from what has arrived.
    ///
    /// - Parameters:
    ///   - allowance: how many at most.
    ///   - now: by the engine's wall clock.
    /// - Returns: how many.
    mutating func read(atMost allowance: Int, now: WallTime) -> Int {
        var count = 0
        while ending.isReading, hasUnread, waiting.count < limit, count < allowance {
            do throws(BinaryRequestFault) {
                guard let request = try reader.next() else {
                    hasUnread = false
                    if case .inputEnded? = ending, reader.isInRequest {
                        tally.add(.incomplete)
                        discardUnread(.shutdown)
                    }
                    break
                }
                count += 1
                take(request, now: now)
            } catch {
                tally.add(.protocol)
                fail(error.answer)
            }
        }
        return count
    }

    /// What to do now; asked until it has nothing.
    mutating func next() -> Step? {
        guard submitted == 0, ending.isGoingOn else { return nil }
        if case .silence? = ending { return end(.close) }
        guard waiting.isEmpty else {
            guard !isHolding else { return nil }
            let batch = waiting.prefix(Self.greatestBatch)
            submitted = batch.count
            return .submit(batch.map(\.notification))
        }
        switch ending {
        case .fault(let answer): return end(.answer(answer))
        case .shutdown: return end(farewell)
        case .inputEnded where !hasUnread: return end(.close)
        case .inputEnded, .silence, .over, nil: return nil
        }
    }

    /// The journal has spoken.
    ///
    /// - Parameter receipts: of the batch's notifications, up to the first refusal.
    mutating func committed(_ receipts: [Receipt], now: NIODeadline) {
        submitted = 0
        var taken = 0
        var refusal: Refusal?
        loop: for receipt in receipts {
            switch receipt {
            case .accepted, .repeated:
                // Popped from a slice: what is left is not moved.
                lastCommitted = waiting.popFirst()?.identifier ?? lastCommitted
                taken += 1
            case .refused(let why):
                refusal = why
                break loop
            case .undetermined:
                drop(.silence)
                return
            }
        }
        tally.accepted += taken
        if waiting.isEmpty { waiting = [] }
        if taken > 0 { refusedSince = nil }
        if let refusal { refused(refusal, now) }
    }

    /// Asks the journal again, or gives up.
    mutating func retry(now: NIODeadline) {
        guard isHolding else { return }
        isHolding = false
        if let refusedSince, now - refusedSince >= patience { drop(.shutdown) }
    }

    /// Takes nothing more; what was read is still put on disk, and then the client is told so.
    mutating func drain() {
        guard ending == nil else { return }
        discardUnread(.shutdown)
    }

    /// The client writes no more. What it wrote is put on disk, and that is all; where its last notification was cut off, it
    /// is told which one is the last on disk.
    mutating func inputEnded() {
        guard ending == nil else { return }
        ending = .inputEnded
        // The reader may hold a notification that is not whole: it is looked at once more.
        hasUnread = true
    }

    /// The connection is gone: nothing can be answered any more.
    mutating func disconnected() {
        inputEnded()
    }

    // MARK: Deciding

    private mutating func take(_ request: BinaryRequest, now: WallTime) {
        if request.identifier == 0 { usesZero = true }
        guard let translation else { return refuse(.missingTopic, request.identifier) }
        do throws(BinaryTranslation.Fault) {
            let notification = try translation.notification(request, now: now)
            waiting.append(Waiting(notification: notification, identifier: request.identifier))
        } catch {
            refuse(error.status, request.identifier)
        }
    }

    private mutating func refused(_ refusal: Refusal, _ now: NIODeadline) {
        switch refusal.reason {
        case .journalFull, .journalFailed:
            isHolding = true
            journalTrouble = refusal.detail
            refusedSince = refusedSince ?? now
        case .shuttingDown:
            drop(.shutdown)
        case .badExpirationDate where waiting.first?.notification.expiration != .once:
            // It was good when it was read, and waited too long.
            waiting[waiting.startIndex].notification.expiration = .once
        default:
            let identifier = waiting.first?.identifier
            waiting = []
            refuse(BinaryStatus(refusal), identifier)
        }
    }

    /// The error that comes first is the one that counts: what was written behind it was not taken.
    private mutating func refuse(_ status: BinaryStatus, _ identifier: UInt32?) {
        tally.refused[status.word, default: 0] += 1
        fail(ErrorResponse(status: status, identifier: identifier ?? 0))
    }

    private mutating func fail(_ answer: ErrorResponse) { discardUnread(.fault(answer)) }

    /// What waits was not taken, and nobody learns more of it than that.
    private mutating func drop(_ ending: Ending) {
        tally.unanswered += waiting.count
        waiting = []
        isHolding = false
        discardUnread(ending)
    }

    private mutating func discardUnread(_ ending: Ending) {
        self.ending = ending
        reader = BinaryRequestReader()
        hasUnread = false
    }

    private mutating func end(_ step: Step) -> Step {
        discardUnread(.over)
        return step
    }

    /// Status 10. Before anything with a name is on disk it names 0, which clients take for none of theirs; one that uses 0
    /// hears nothing instead.
    private var farewell: Step {
        if let lastCommitted { return .answer(ErrorResponse(status: .shutdown, identifier: lastCommitted)) }
        return usesZero ? .close : .answer(ErrorResponse(status: .shutdown, identifier: 0))
    }
}

extension BinaryServerSession.Ending? {
    /// Whether what has arrived is still read.
    fileprivate var isReading: Bool {
        switch self {
        case nil, .inputEnded: true
        case .fault, .shutdown, .silence, .over: false
        }
    }

    fileprivate var isGoingOn: Bool { if case .over? = self { false } else { true } }
}
