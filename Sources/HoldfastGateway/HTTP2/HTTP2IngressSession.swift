internal import Holdfast
internal import HoldfastAPNsAnswers
internal import HoldfastHTTP2
internal import NIOCore

/// The protocol logic of one connection: requests in; batches for the journal, and answers, out.
///
/// A pure machine. It has no clock, writes to no socket and submits nothing: ``HTTP2IngressConnection`` does. The
/// requests of one read are one batch, and the answers of one commit are one write.
struct HTTP2IngressSession {
    /// A request whose notification is on its way to the disk.
    struct Waiting: Sendable {
        let streamID: UInt32
        let id: NotificationID
        /// The id as its sender wrote it; nil where we assigned it.
        let idText: String?
        /// Whose form its answer has.
        var form: AnswerForm
        /// When it is answered; nil for an answer in the service's form when it is on disk.
        var answering: AnswerMode?
    }

    /// Notifications to be submitted together. `waiting` has a place for each of them.
    struct Batch: Sendable {
        var notifications: [PushNotification] = []
        var waiting: [Waiting] = []
        /// The names that senders submit under, by index, but for the listener's own.
        var producers: [Int: String] = [:]

        /// Requests that wait for their outcomes.
        var waitCount: Int { waiting.count { if case .wait? = $0.answering { true } else { false } } }
    }

    var session: HTTP2ServerSession
    private(set) var settings: HTTP2IngressSettings
    private var events = HTTP2ServerEvents()
    private(set) var reader: RequestReader
    var ids: NotificationIDSource
    private var batch = Batch()
    /// Messages that are only to be checked.
    var checks: [(its: Waiting, notification: PushNotification)] = []
    var answers = AnswerWriter()
    var credentials: SubmitterCheck
    /// Whether no more requests are taken.
    private var isDraining = false

    /// Requests that are on their way to the disk.
    private(set) var outstanding = 0
    /// Requests whose notifications are on disk, and which wait for their outcomes.
    var waits = AnswerWaits()
    /// Streams that wait no more, although their outcomes are still asked for.
    var forgotten: [UInt32] = []
    /// The counts to be added to the listener's counters.
    var tally = IngressFigures.Values()
    /// Messages for operators: the last of each kind.
    var troubles: [ListenerLog.Line: String] = [:]
    /// Whether the client's first SETTINGS have arrived.
    private(set) var isOpen = false
    /// Whether the connection is over: its output ends with a GOAWAY that says so, and is to be written.
    private(set) var isOver = false
    /// The newest stream at the last sweep.
    private var sweptUpTo: UInt32 = 0

    init(_ settings: HTTP2IngressSettings) {
        self.settings = settings
        session = HTTP2ServerSession(limits: settings.sessionLimits, names: RequestFields.names)
        reader = RequestReader(onlyTopic: settings.onlyTopic, environments: settings.environments)
        reader.readsTraces = settings.isTraced
        ids = NotificationIDSource()
        credentials = SubmitterCheck(settings.access)
    }

    // MARK: In

    /// Takes bytes that arrived, split anywhere.
    mutating func receive(_ bytes: Span<UInt8>, now: WallTime) {
        session.receive(bytes, events: &events)
        guard !events.isEmpty else { return }
        var taken = HTTP2ServerEvents()
        swap(&taken, &events)
        for event in taken.others { take(event) }
        for request in taken.requests { take(request, in: taken, now) }
        taken.removeAll()
        swap(&taken, &events)
    }

    private mutating func take(_ event: HTTP2ServerEvents.Event) {
        switch event {
        case .settingsChanged:
            isOpen = true
        case .connectionError:
            countFault(.protocol)
            isOver = true
        case .reset(let streamID, _, _):
            // Its sender has gone; the notification goes on.
            guard waits.end(streamID) != nil else { break }
            forgotten.append(streamID)
            tally.unanswered += 1
        case .goAway, .settingsAcknowledged, .pong:
            break
        }
    }

    private mutating func take(_ request: HTTP2ServerEvents.Request, in events: HTTP2ServerEvents, _ now: WallTime) {
        let fields = RequestFields(
            HeaderSelection(
                events.headers, request.fields, knowsAllOf: RequestFields.ownBeginning,
                repeatableFrom: RequestFields.firstRepeatable))
        if fields.isRelayed { return refuseRelayed(request, fields) }
        switch fields.purpose {
        case .message: takeMessage(request, fields, in: events, now)
        case .accessToken: takeTokenRequest(request, fields, in: events, now)
        case .device, .broadcast: takeNotification(request, fields, in: events, now)
        }
    }

    private mutating func takeNotification(
        _ request: HTTP2ServerEvents.Request, _ fields: RequestFields, in events: HTTP2ServerEvents, _ now: WallTime
    ) {
        let ownID = fields.ownID
        let id = ownID.flatMap { NotificationID($0) }
        var its = Waiting(
            streamID: request.streamID, id: id ?? ids.next(),
            idText: id == nil ? nil : ownID, form: fields.isBroadcast ? .broadcast : .device,
            answering: fields.answer == nil ? settings.answering : .accepted)
        do throws(Refusal) {
            try RequestReader.checkRoute(fields)
            let submitter = try credentials.submitter(fields, now: now)
            var notification = try reader.notification(fields, id: id, body: events.bodies[request.body])
            its.answering = try RequestReader.answering(fields, orElse: settings.answering)
            try credentials.check(submitter, for: notification)
            credentials.letIn(submitter)
            notification.id = its.id
            notification.hasAssignedID = id == nil
            keepTrying(&notification, now)
            put(notification, its, fields)
        } catch {
            if let line = Self.line(about: error.reason) {
                troubles[line] = "a request was refused with \(error.reason): \(error.detail)"
            }
            let interval = error.reason == .tooManyProviderTokenUpdates ? settings.tokenInterval : nil
            refuse(its, RefusalAnswer(error), of: fields, retryAfter: interval)
        }
    }

    /// What the service is not to store is tried for a while all the same, unless one attempt is asked for.
    func keepTrying(_ notification: inout PushNotification, _ now: WallTime) {
        guard notification.expiration == .once, notification.guarantee == .atLeastOnce else { return }
        // From when it may go at the earliest.
        notification.expiration = .unstored(
            for: settings.unstoredLifetime, from: notification.opening(at: now) ?? now)
    }

    /// Puts a notification into the batch.
    @inline(__always)
    mutating func put(_ notification: consuming PushNotification, _ its: Waiting, _ fields: RequestFields) {
        if fields.hasChoices, let name = fields.producer, name != HTTP2Ingress.producerName {
            batch.producers[batch.notifications.count] = name
        }
        batch.notifications.append(consume notification)
        batch.waiting.append(its)
    }

    /// The number of notifications that wait to be submitted.
    var batchCount: Int { batch.notifications.count }

    /// Takes the batch to be submitted.
    ///
    /// - Parameter granted: the notifications that the rate admits; the others are refused with `retryAfter`.
    mutating func takeBatch(granted: Int, retryAfter: Int) -> Batch {
        var taken = Batch()
        swap(&taken, &batch)
        if taken.notifications.count > granted {
            for its in taken.waiting[granted...] {
                refuse(its, its.form.tooMany, retryAfter: retryAfter)
            }
            taken.notifications.removeSubrange(granted...)
            taken.waiting.removeSubrange(granted...)
            taken.producers = taken.producers.filter { $0.key < granted }
        }
        outstanding += taken.waiting.count
        return taken
    }

    // MARK: Out

    /// Answers the requests of a commit, but for those that wait for their outcomes.
    ///
    /// - Parameters:
    ///   - receipts: one for each waiting request.
    ///   - repeats: the number of those that were accepted before, ones without an outcome yet included.
    ///   - mayWait: the most requests that may wait; the others are answered at once.
    /// - Returns: those that wait.
    mutating func committed(
        _ waiting: [Waiting], _ receipts: [Receipt], repeats: Int, mayWait: Int = 0, now: NIODeadline = .now()
    ) -> [Awaited] {
        outstanding -= waiting.count
        var taken = 0
        var awaited: [Awaited] = []
        for (its, receipt) in zip(waiting, receipts) {
            switch receipt {
            case .accepted(let uid):
                taken += 1
                if case .wait(let time)? = its.answering, awaited.count < mayWait, !isDraining, !isOver,
                    session.isOpen(its.streamID)
                {
                    waits.begin(its, for: time, at: now)
                    awaited.append(Awaited(streamID: its.streamID, uid: uid))
                } else {
                    accept(its, .accepted)
                }
            case .repeated(_, let outcome):
                taken += 1
                let word = OutcomeWord(outcome)
                if let answer = its.form.answer(to: outcome) { write(its, answer, word) } else { accept(its, word) }
            case .refused(let refusal):
                refuse(its, its.form.answer(to: refusal))
            case .undetermined:
                // Nobody can say whether it is on disk, and neither do we.
                tally.unanswered += 1
                if case .message = its.form { writeUndetermined(its) } else { fail() }
            }
        }
        tally.accepted += taken - repeats
        tally.repeated += repeats
        finishDrain()
        return awaited
    }

    mutating func accept(_ its: Waiting, _ word: OutcomeWord, uniqueID: String? = nil) {
        if !answers.accept(its, word, uniqueID: uniqueID, &session) { tally.unanswered += 1 }
        if its.answering != nil { tally.told[word.rawValue, default: 0] += 1 }
    }

    /// - Parameter fields: the request's, which say whether its answer may have a body.
    mutating func refuse(
        _ its: Waiting, _ answer: RefusalAnswer, of fields: RequestFields, retryAfter: Int? = nil
    ) {
        var answer = answer
        answer.isBodiless = fields.isHead
        refuse(its, answer, retryAfter: retryAfter)
    }

    mutating func refuse(_ its: Waiting, _ answer: RefusalAnswer, retryAfter: Int? = nil) {
        tally.refused[answer.reason, default: 0] += 1
        write(its, answer, .refused, retryAfter: retryAfter)
    }

    private mutating func write(
        _ its: Waiting, _ answer: RefusalAnswer, _ word: OutcomeWord, retryAfter: Int? = nil
    ) {
        let retryAfter = answer.isTemporary ? retryAfter ?? settings.retryAfter : nil
        answers.refuse(its, answer, word, retryAfter: retryAfter, &session)
        if its.answering != nil { tally.told[word.rawValue, default: 0] += 1 }
    }

    /// Whether there is something to write.
    var hasOutput: Bool { session.hasOutput }

    /// Appends the bytes to write.
    mutating func drainOutput(into buffer: inout ByteBuffer) { session.drainOutput(into: &buffer) }

    /// The counts since the last call; nil for none.
    mutating func takeTally() -> IngressFigures.Values? {
        guard tally != IngressFigures.Values() else { return nil }
        defer { tally = IngressFigures.Values() }
        return tally
    }

    /// The messages for operators since the last call.
    mutating func takeTroubles() -> [ListenerLog.Line: String] {
        guard !troubles.isEmpty else { return troubles }
        defer { troubles = [:] }
        return troubles
    }

    /// The log line about a refusal; nil where operators are not told.
    private static func line(about reason: Reason) -> ListenerLog.Line? {
        switch reason {
        case .invalidProviderToken, .expiredProviderToken, .missingProviderToken, .tooManyProviderTokenUpdates:
            .refusedTokens
        case .topicDisallowed: .refusedTopics
        default: nil
        }
    }

    mutating func countFault(_ what: ListenerFault) { tally.add(what) }

    /// The client is gone: notifications that are not on disk yet, or have not ended, get no answer.
    mutating func abandon() {
        tally.unanswered += outstanding + waits.count
        forgotten += waits.endAll().map(\.streamID)
        if !isOver, begunByteCount > 0 { tally.add(.incomplete) }
    }

    // MARK: The connection

    /// Takes up other settings, for requests from now on.
    mutating func change(to settings: HTTP2IngressSettings) {
        if settings.streams != self.settings.streams { session.changeSettings(maxConcurrentStreams: settings.streams) }
        self.settings = settings
        (reader.onlyTopic, reader.environments) = (settings.onlyTopic, settings.environments)
        credentials.change(to: settings.access)
    }

    /// The client has shown a certificate that is good.
    mutating func know(_ client: KnownClient) {
        credentials.client = client
    }

    /// Whether the client has shown credentials that are good.
    var hasProof: Bool { credentials.hasProof }

    /// Whether the client has to show credentials, and has not.
    var isStranger: Bool { !settings.access.isOpen && !hasProof }

    /// Shared with the client's other connections; nil for any number.
    var clientRate: SharedRate? { credentials.client?.rate }

    /// Starts another interval: the client gets a new budget of frames, and a request that has not ended in a whole
    /// interval is reset.
    mutating func sweep() {
        session.renewFrameBudget()
        credentials.renew()
        let stale = session.resetUnfinished(upTo: sweptUpTo, code: .cancel)
        if stale > 0 { tally.add(.slow, stale) }
        sweptUpTo = session.lastStreamID
    }

    /// Bytes of requests that have begun and not ended.
    var begunByteCount: Int { session.incomingByteCount }

    /// Resets the unfinished requests and ends the connection: they exceed its share.
    mutating func shed() {
        _ = session.resetUnfinished(upTo: .max, code: .enhanceYourCalm)
        close(.memory, code: .enhanceYourCalm)
    }

    /// Takes no more requests. Requests that were read are put on disk and answered first, and then the client is told
    /// which was the last: many clients close on GOAWAY, and take unanswered requests for failed. Nobody waits for an
    /// outcome any more.
    mutating func drain() {
        guard !isDraining, !isOver else { return }
        isDraining = true
        session.takeNoMore()
        endWaits(waits.endAll())
        finishDrain()
    }

    private mutating func finishDrain() {
        if isDraining, session.openStreams == 0, outstanding == 0 { close(nil) }
    }

    /// Bytes of answers that wait for the client's flow-control windows.
    var heldBack: Int { session.heldBack }

    /// Bytes that waited for them and have gone out.
    var heldSent: Int { session.heldSent }

    /// Looks whether a connection that is being drained has nothing left to do.
    mutating func settle() { finishDrain() }

    /// Ends the connection with GOAWAY; pending requests are not answered any more.
    mutating func close(_ fault: ListenerFault?, code: HTTP2ErrorCode = .noError) {
        guard !isOver else { return }
        if let fault { countFault(fault) }
        session.goAway(code: code)
        isOver = true
    }

    private mutating func fail() { close(nil, code: .internalError) }
}
