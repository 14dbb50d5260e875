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
        /// Submit up to the first refusal; ``committed(_:now:)`` takes the receipts.
        case submit([PushNotification])
        /// Send the one answer of the connection, then close our side.
        case answer(ErrorResponse)
        /// Close without an answer.
        case close
    }

    /// The reason why nothing more is taken.
    enum Ending: Sendable {
        /// The fault of the first notification that was not taken.
        case fault(ErrorResponse)
        /// The push service has rejected one that is on disk. What was read behind it is put on disk, too: whoever does not
        /// send it again has not lost it.
        case rejection(ErrorResponse)
        /// A shutdown, which names the last notification on disk.
        case shutdown
        /// The client has closed its side.
        case inputEnded
        /// Nobody knows what is on disk.
        case silence
        /// Answered, or closed.
        case over
    }

    struct Waiting: Sendable {
        var notification: PushNotification
        let identifier: UInt32?
        /// Nil where no errors are said about notifications on disk.
        let key: BinaryRepeats.Key?
    }

    /// The most notifications of one commit; further ones wait for it.
    static let greatestBatch = 5000

    /// The most notifications that were read and are not on disk.
    private let limit: Int
    /// nil where neither the listener nor the client's certificate has a topic.
    private let translation: BinaryTranslation?
    private let patience: TimeAmount
    /// Nil where no errors are said about notifications on disk.
    let errors: ErrorTerms?
    var accepted: BinaryAccepted
    var tracked: [Tracked] = []
    /// Those that the one error has called discarded.
    var disowned: [BinaryAccepted.Entry] = []
    /// Those of which no error is said any more.
    var untracked: [BinaryFate] = []
    /// The time since which the end waits for outcomes.
    var endingSince: NIODeadline?
    /// Whether the connection is gone, and nobody could be told anything.
    private(set) var isGone = false
    private var reader = BinaryRequestReader()
    /// Whether the reader may have a whole request.
    private var hasUnread = false
    /// Notifications read and not on disk, in order; the journal has the first ``submitted`` of them.
    var waiting: ArraySlice<Waiting> = []
    private(set) var submitted = 0
    /// The time since which the journal takes nothing; nil while it does.
    private var refusedSince: NIODeadline?
    /// Whether the journal is not asked before ``retry(now:)``.
    private var isHolding = false
    var ending: Ending?
    var lastCommitted: UInt32?
    /// Whether the client uses the identifier 0, which can't mean "none" for it then.
    private var usesZero = false
    var tally = IngressFigures.Values()

    /// - Parameters:
    ///   - unstoredLifetime: the lifetime of an expiration of 0; zero is one attempt.
    ///   - limit: the most notifications that are not on disk; at least 1.
    ///   - patience: the timeout of a journal that takes nothing; then the client is sent away.
    ///   - environment: of its notifications; nil for the default.
    ///   - preferredEnvironment: of its notifications, if there is a choice.
    ///   - errors: nil where no errors are said about notifications on disk.
    init(
        topic: String?, unstoredLifetime: Duration, limit: Int, patience: TimeAmount,
        environment: PushEnvironment? = nil, preferredEnvironment: PushEnvironment? = nil, errors: ErrorTerms? = nil
    ) {
        self.errors = errors
        accepted = BinaryAccepted(patience: errors?.patience ?? .zero)
        translation = topic.map {
            BinaryTranslation(
                topic: $0, unstoredLifetime: unstoredLifetime, environment: environment,
                preferredEnvironment: preferredEnvironment)
        }
        self.limit = max(limit, 1)
        self.patience = patience
    }

    // MARK: State

    /// Whether to read from the socket: not while ``limit`` notifications wait. Behind an error everything is read and
    /// thrown away.
    var wantsInput: Bool { ending != nil || waiting.count < limit && !hasUnread }

    /// Whether nothing waits, and requests that have arrived are to be read: those before them had come again.
    var isReadable: Bool { ending.isReading && hasUnread && waiting.isEmpty }

    /// Whether the journal takes nothing, and has to be asked again with ``retry(now:)``.
    var isWaitingForJournal: Bool { isHolding && ending.isGoingOn }

    /// Whether the end has not begun.
    var isOpen: Bool { ending == nil }

    /// The counts since the last call.
    mutating func takeTally() -> IngressFigures.Values {
        defer { tally = IngressFigures.Values() }
        return tally
    }

    // MARK: Events

    /// Takes bytes, split anywhere.
    mutating func receive(_ bytes: Span<UInt8>) {
        guard ending == nil else { return }
        reader.append(bytes)
        hasUnread = true
    }

    /// Reads requests from what has arrived.
    ///
    /// - Parameters:
    /// - allowance: the most requests to read.
    ///   - now: by the engine's wall clock.
    /// - Returns: the number of requests read.
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

    /// The next step; call until it returns nil.
    mutating func next(now: NIODeadline) -> Step? {
        guard submitted == 0, ending.isGoingOn else { return nil }
        if case .silence? = ending { return end(.close) }
        lookForRejection(now)
        if !isHolding { takeRepeats(now) }
        guard waiting.isEmpty else {
            guard !isHolding else { return nil }
            let batch = batch(now)
            submitted = batch.count
            return .submit(batch.map(\.notification))
        }
        switch ending {
        case .fault(let answer): return waitsForOutcomes(now) ? nil : end(.answer(answer))
        case .rejection(let answer) where !hasUnread:
            tally.told[answer.status.word, default: 0] += 1
            disowned = accepted.takeAll()
            return end(.answer(answer))
        case .shutdown: return end(farewell)
        case .inputEnded where !hasUnread: return waitsForOutcomes(now) ? nil : end(.close)
        case .inputEnded, .rejection, .silence, .over, nil: return nil
        }
    }

    /// Takes the journal's answer.
    ///
    /// - Parameters:
    ///   - receipts: of the batch's notifications, up to the first refusal.
    ///   - canTell: whether the outcomes of these can be told.
    mutating func committed(_ receipts: [Receipt], now: NIODeadline, canTell: Bool = false) {
        submitted = 0
        var taken = 0
        var refusal: Refusal?
        loop: for receipt in receipts {
            switch receipt {
            case .accepted(let uid), .repeated(let uid, _):
                // Popped from a slice: the rest is not moved.
                guard let its = waiting.popFirst() else { continue }
                lastCommitted = its.identifier ?? lastCommitted
                taken += 1
                if canTell {
                    track(its, BinaryFate(), uid: uid)
                } else {
                    letGo()
                }
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

    /// Takes nothing more; requests read are still put on disk, and then the client is told the last one.
    mutating func drain() {
        // Nobody would recognise what comes again: no error is said about what is on disk.
        letGo()
        if case .rejection? = ending { return discardUnread(.shutdown) }
        guard ending == nil else { return }
        discardUnread(.shutdown)
    }

    /// The client has closed its side. Its requests are put on disk, and nothing is answered; if its last notification
    /// was cut off, it is told the last one on disk.
    mutating func inputEnded() {
        guard ending == nil else { return }
        ending = .inputEnded
        // The reader may hold an incomplete notification: it is asked once more.
        hasUnread = true
    }

    /// The connection is gone: no answer is possible any more.
    mutating func disconnected() {
        isGone = true
        letGo()
        inputEnded()
    }

    // MARK: Decisions

    private mutating func take(_ request: BinaryRequest, now: WallTime) {
        if request.identifier == 0 { usesZero = true }
        guard let translation else { return refuse(.missingTopic, request.identifier) }
        do throws(BinaryTranslation.Fault) {
            let notification = try translation.notification(request, now: now)
            let key = errors.map { $0.repeats.key(of: request, from: $0.sender, topic: translation.topic) }
            waiting.append(Waiting(notification: notification, identifier: request.identifier, key: key))
        } catch {
            refuse(error.status, request.identifier)
        }
    }

    private mutating func refused(_ refusal: Refusal, _ now: NIODeadline) {
        switch refusal.reason {
        case .journalFull, .journalUnreachable, .journalFailed:
            isHolding = true
            refusedSince = refusedSince ?? now
        case .shuttingDown:
            drop(.shutdown)
        case .badExpirationDate where waiting.first?.notification.expiration != .once:
            // It was valid when it was read, and waited too long.
            waiting[waiting.startIndex].notification.expiration = .once
        default:
            let identifier = waiting.first?.identifier
            if case .rejection? = ending {
                // It was called discarded, and is refused when it comes again.
                _ = waiting.popFirst()
            } else {
                waiting = []
                refuse(BinaryStatus(refusal), identifier)
            }
        }
    }

    /// The first error counts: everything behind it was not taken.
    private mutating func refuse(_ status: BinaryStatus, _ identifier: UInt32?) {
        if case .rejection? = ending { return }
        tally.refused[status.word, default: 0] += 1
        fail(ErrorResponse(status: status, identifier: identifier ?? 0))
    }

    private mutating func fail(_ answer: ErrorResponse) {
        if case .rejection? = ending { return discardUnread(ending ?? .over) }
        discardUnread(.fault(answer))
    }

    /// Waiting notifications were not taken, and nobody learns more about them.
    private mutating func drop(_ ending: Ending) {
        tally.unanswered += waiting.count
        waiting = []
        isHolding = false
        // Nothing more is put on disk, but an error that is due names one before all of it.
        if case .rejection? = self.ending { return discardUnread(self.ending ?? ending) }
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

    /// Status 10. Before a notification with an identifier is on disk it names 0, which clients take for none of
    /// theirs; a client that uses 0 gets no answer instead.
    private var farewell: Step {
        if let lastCommitted { return .answer(ErrorResponse(status: .shutdown, identifier: lastCommitted)) }
        return usesZero ? .close : .answer(ErrorResponse(status: .shutdown, identifier: 0))
    }
}

extension BinaryServerSession.Ending? {
    /// Whether arrived requests are still read.
    fileprivate var isReading: Bool {
        switch self {
        case nil, .inputEnded, .rejection: true
        case .fault, .shutdown, .silence, .over: false
        }
    }

    fileprivate var isGoingOn: Bool { if case .over? = self { false } else { true } }
}
