/// A device's recipient as far as one topic is concerned: an app's token is good for the app alone.
struct TokenOfTopic: Hashable, Sendable {
    let recipient: Recipient
    let topic: String
}

/// Judges tokens that were called bad, by the answers to one topic of a route.
///
/// `BadDeviceToken` and `DeviceTokenNotForTopic` are what a bad token brings, and also what a wrong environment or topic
/// brings for every token. So an entry that is answered so is first a *suspect*: still unconfirmed, not blacklisted. When
/// most of what the topic is answered is suspect, the topic is wrong and not the tokens: the breaker trips, and the topic is
/// set aside with its suspects, unharmed. Otherwise a few are convicted. Of more than the allowance none is on one word: they
/// go once more, since a service may have been wrong for a moment, and are convicted when they are called bad again.
///
/// A service may also be wrong in a part of its front ends, or at random, while others are taken all the time. So a word
/// counts only when the connection that says it takes tokens of the topic too (``ServiceVoices``), the second one has to come
/// from another connection where there is one, and none convicts while the service takes at a second try what it has called
/// bad (``ReversedWords``). And no more than the allowance are ever convicted on one word.
///
/// No token is blacklisted before the topic has a confirmation: until then a bad token looks like a wrong service.
/// So there is no hurry then, and good ones behind the bad have the time to prove the topic.
///
/// A service can change its mind in the middle of a burst, and then thousands of confirmations from before are still to come.
/// So the first suspects, the *accused*, are convicted early only by the answers to what was handed out after theirs had come.
/// Who is called bad meanwhile is judged after them, by evidence of their own.
///
/// A pure machine.
struct CircuitBreaker: Sendable {
    enum Judgement: Sendable {
        case convict([Suspect])
        /// They are to be sent once more.
        case giveChance([Suspect])
        /// They are to be sent once more, after a while: their words don't suffice, or are not to be trusted now.
        case postpone([Suspect])
        /// With what to tell people, and how many more entries of the topic may be tried without a pause.
        case trip([Suspect], String, spare: Int)
    }

    var policy: SuspectPolicy
    private var accused: Batch?
    /// Answered in later turns than the first of the accused.
    private var later: Batch?
    private var evidence = Evidence()
    private var turn: UInt32 = 0
    /// Confirmed in this turn.
    private var confirmedInTurn = 0
    /// Convicted since anything was last confirmed: in a wrong environment with thin traffic suspects come one by one.
    private var convictedSinceConfirmed = 0
    /// Convicted on one word, ever.
    private var convictedOnOneWord = 0
    private var voices = ServiceVoices()
    private var reversals = ReversedWords()
    /// Whether anything was ever confirmed, or since the breaker tripped.
    private(set) var isProven: Bool

    /// - Parameter isProven: whether anything of the topic was confirmed by an earlier process.
    init(policy: SuspectPolicy, isProven: Bool = false, suspicion: String = Self.suspicion) {
        self.policy = policy
        self.isProven = isProven
        self.suspicion = suspicion
    }

    /// What may be wrong, in Apple's terms.
    static let suspicion = "the environment, the topic or the project"

    /// What may be wrong where many tokens are called bad, in the service's terms.
    private let suspicion: String

    var suspects: [Suspect] { (accused?.suspects ?? []) + (later?.suspects ?? []) }

    var heldCount: Int { (accused?.suspects.count ?? 0) + (later?.suspects.count ?? 0) }

    /// Whether the time of a hand-out matters: see ``isEvidence(_:)``.
    var isJudging: Bool { accused != nil }

    /// Whether the entry was handed out after the accused had been answered. (A turn takes answers before it hands out.)
    func isEvidence(_ flight: SentWindow.Flight) -> Bool {
        isJudging && !evidence.turn.isTurn(after: flight.handedOutIn)
    }

    /// It is this turn.
    mutating func look(turn: UInt32) {
        guard turn != self.turn else { return }
        self.turn = turn
        confirmedInTurn = 0
    }

    /// The service has taken so many.
    ///
    /// - Parameters:
    ///   - voice: see ``Suspect/voice``.
    ///   - evidence: how many of them are evidence, see ``isEvidence(_:)``.
    mutating func confirmed(_ count: Int, by voice: Int, evidence: Int = 0) {
        guard count > 0 else { return }
        isProven = true
        if !voices.knows(voice) { voices.add(voice, keeping: suspects) }
        voices.confirmed(by: voice)
        convictedSinceConfirmed = 0
        accused?.confirmedMeanwhile += count
        later?.confirmedMeanwhile += count
        self.evidence.confirmed += evidence
        confirmedInTurn += count
    }

    /// A connection has ended.
    mutating func ended(voice: Int) { voices.ended(voice) }

    /// Whether a connection's word about a token would not count now.
    func isDiscredited(_ voice: Int) -> Bool { voices.isDiscredited(voice, limit: policy.allowance) }

    /// The service has taken what was sent once more.
    mutating func taken(_ chance: SecondChances.Chance, now: Duration) {
        if chance.counts { reversals.reversed(now: now) }
    }

    mutating func hold(_ suspect: Suspect, now: Duration) {
        var suspect = suspect
        if !voices.knows(suspect.voice) { voices.add(suspect.voice, keeping: suspects) }
        suspect.saidAt = voices.calledBad(by: suspect.voice, isNews: !suspect.hadChance)
        if isEvidence(suspect.flight), !suspect.hadChance, isHeard(suspect) { evidence.suspect += 1 }
        var new = Batch(firstAt: now, turn: turn, confirmedMeanwhile: confirmedInTurn, wasProven: isProven)
        new.add(suspect)
        if accused == nil {
            accused = new
            evidence = Evidence(since: now, turn: turn)
        } else if accused!.turn == turn {
            accused!.add(suspect)
        } else if later == nil {
            later = new
        } else {
            later!.add(suspect)
        }
    }

    /// When the accused are judged at the latest. Those that followed others have a while for evidence of their own.
    var judgementAt: Duration? { accused.map { max($0.firstAt + policy.hold, evidence.since + policy.hold / 4) } }

    /// - Parameter now: by the monotonic clock.
    /// - Returns: nil while it is too early to say.
    mutating func judge(now: Duration) -> Judgement? {
        guard let accused, let judgementAt else { return nil }
        let isOver = now >= judgementAt
        let greatestHeld = accused.wasProven ? policy.greatestHeld : policy.greatestHeldUnproven
        guard isOver || heldCount >= greatestHeld else { return nil }
        // That some are called bad once more is nothing new of the topic.
        let held = isProven ? heard(accused) + (later.map(heard) ?? 0) : heldCount
        let answers = held + accused.confirmedMeanwhile
        let allowance = isProven ? policy.allowance : 0
        let isMostly = Double(held) / Double(max(answers, 1)) >= policy.tripShare
        let isMostlyNow = evidence.count > allowance && evidence.share >= policy.tripShare
        if isMostly || isMostlyNow, convictedSinceConfirmed + held > allowance {
            return isMostly ? trip(held, of: answers) : trip(evidence.suspect, of: evidence.count)
        }
        guard isOver || evidence.count >= policy.greatestHeld else { return nil }
        return decide(isSpared: accused.isSpared || held > policy.allowance, now: now)
    }

    /// Decides on the accused entries, one part of them after the other.
    ///
    /// - Parameter isSpared: whether no token is blacklisted after one refusal.
    private mutating func decide(isSpared: Bool, now: Duration) -> Judgement? {
        guard var judged = accused else { return nil }
        reversals.look(now: now, memory: policy.distrust)
        let again = judged.suspects.count { $0.hadChance && counts($0) }
        let isDistrusted = reversals.isTooOften(upheld: again)
        let isSparing = isSpared || isDistrusted || convictedOnOneWord + judged.firstCount > policy.allowance
        let spared = judged.remove { !$0.hadChance && (isSparing || !counts($0)) }
        guard spared.isEmpty else {
            if isSpared { later?.isSpared = true }
            keep(judged, now: now)
            return .giveChance(spared)
        }
        let postponed = judged.remove { $0.hadChance && (isDistrusted || !isSecondWord($0)) }
        guard postponed.isEmpty else {
            reversals.upheld(postponed.count { $0.chance?.counts == true && counts($0) })
            keep(judged, now: now)
            return .postpone(postponed)
        }
        reversals.upheld(again)
        convictedOnOneWord += judged.firstCount
        convictedSinceConfirmed += judged.firstCount
        succeed(now: now)
        return .convict(judged.suspects)
    }

    /// Whether what was said of a token counts, by all that is known by now.
    private func counts(_ suspect: Suspect) -> Bool {
        voices.counts(suspect.voice, saidAt: suspect.saidAt, limit: policy.allowance)
    }

    /// Whether the refusal says something about the topic, and is not from a misconfigured front end while others are well.
    private func isHeard(_ suspect: Suspect) -> Bool {
        counts(suspect) || !voices.hasOther(than: suspect.voice, limit: policy.allowance)
    }

    private func heard(_ batch: Batch) -> Int { batch.suspects.count { !$0.hadChance && isHeard($0) } }

    /// Whether two words that count agree: of two connections, if there are.
    private func isSecondWord(_ suspect: Suspect) -> Bool {
        guard let first = suspect.chance, first.counts, counts(suspect) else { return false }
        return first.voice != suspect.voice || !voices.hasOther(than: suspect.voice, limit: policy.allowance)
    }

    /// The record to keep of an entry that is sent once more. A refusal that counts is not replaced by one that does not.
    func chance(of suspect: Suspect) -> SecondChances.Chance {
        let counts = counts(suspect)
        if !counts, let first = suspect.chance, first.counts { return first }
        return SecondChances.Chance(voice: suspect.voice, counts: counts)
    }

    /// The rest of the accused are still to be judged.
    private mutating func keep(_ rest: Batch, now: Duration) {
        accused = rest
        if rest.suspects.isEmpty { succeed(now: now) }
    }

    private mutating func trip(_ count: Int, of answers: Int) -> Judgement {
        let wasProven = isProven
        let judged = release()
        let reason = judged.last?.result.reason?.rawValue ?? "a bad token"
        isProven = false
        let spare = wasProven ? 0 : max(policy.allowanceUnproven - judged.count, 0)
        guard wasProven || judged.count > policy.allowanceUnproven else {
            return .trip(
                judged,
                "\(reason), and nothing of this topic was taken yet: the token may be bad, or \(suspicion) wrong. No "
                    + "token was blacklisted", spare: spare)
        }
        return .trip(
            judged,
            "\(reason) for \(count) of the last \(answers) answers: \(suspicion) looks wrong. No token was "
                + "blacklisted", spare: spare)
    }

    /// The accused are out of the way, and the next ones take their place.
    private mutating func succeed(now: Duration) {
        (accused, later) = (later, nil)
        evidence = Evidence(since: now, turn: turn)
    }

    /// Lets one go without a judgement: it is not to be sent any more.
    ///
    /// - Returns: whether it was one of them.
    mutating func release(_ uid: UID, now: Duration) -> Bool {
        if accused?.remove(uid) == true {
            if accused!.suspects.isEmpty { succeed(now: now) }
            return true
        }
        guard later?.remove(uid) == true else { return false }
        if later!.suspects.isEmpty { later = nil }
        return true
    }

    /// Lets all suspects go without a judgement.
    mutating func release() -> [Suspect] {
        defer { (accused, later) = (nil, nil) }
        return suspects
    }
}
