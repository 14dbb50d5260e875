internal import Holdfast
internal import HoldfastAPNsAnswers

/// What the push service knows of devices, and of a channel. It never lies but where the binary protocol's garbage is simulated.
struct SimulatedService {
    enum Condition {
        case good
        /// Since when, by the service's clock.
        case unregistered(WallTime)
        case bad
    }

    struct Device {
        let recipient: Recipient
        var condition = Condition.good
        /// When the app last registered it, as the application knows.
        var registeredAt: WallTime?
    }

    struct Stranger: Hashable {
        let recipient: Recipient
        let topic: String
    }

    var devices: [Device]
    /// Recipients of another service than Apple's.
    var others: [Device]
    /// Topics that the credentials are not good for at the moment.
    var wrongTopics: Set<String> = []
    /// Topics of which nothing is answered at the moment.
    var silentTopics: Set<String> = []
    /// Topics that are refused for now.
    var busyTopics: Set<String> = []
    /// Topics of another environment, with what is said of each of their tokens.
    var topicsElsewhere: [String: String] = [:]
    /// Tokens of another app than the topic's.
    var strangers: Set<Stranger> = []
    /// Tokens of the sandbox, which are bad in production; all others are bad in the sandbox.
    var sandboxed: Set<Recipient> = []
    /// Until the credentials are changed.
    var isKeyRevoked = false
    /// What another server answers that stands in its place for a while.
    var foreignStatus = 404
    private var indices: [Recipient: Int] = [:]

    init(tokens: Int, _ dice: inout Dice) {
        devices = (0..<tokens).map { index in
            let bytes = (0..<32).map { UInt8(truncatingIfNeeded: index &* 37 &+ $0 &* (index &+ 1)) } + [UInt8(index)]
            return Device(recipient: .device(DeviceToken(bytes: bytes)!))
        }
        devices.append(Device(recipient: .channel(Self.channel)))
        others = Self.recipientsElsewhere(tokens)
        for (index, device) in devices.enumerated() { indices[device.recipient] = index }
    }

    /// Each address under two kinds, some of the bytes of a token; and all that follow something.
    private static func recipientsElsewhere(_ count: Int) -> [Device] {
        let addresses = (0..<count).map { index in
            let length = index.isMultiple(of: 3) ? 600 : 33
            return (0..<length).map { UInt8(truncatingIfNeeded: index &* 37 &+ $0 &* (index &+ 1)) } + [UInt8(index)]
        }
        let recipients = addresses.flatMap { bytes in
            [ImaginaryService.nest, ImaginaryService.perch].map { kind in (kind, bytes) }
        }
        return (recipients + [(ImaginaryService.flock, Array("flock".utf8))]).map { kind, bytes in
            do throws(Refusal) {
                return Device(recipient: .service(try ServiceAddress(kind, bytes: bytes)))
            } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    private static let channel = BroadcastChannel(checked: "Y2hhbm5lbA==")

    func isStranger(_ recipient: Recipient, to topic: String) -> Bool {
        !strangers.isEmpty && strangers.contains(Stranger(recipient: recipient, topic: topic))
    }

    /// Makes all tokens and channels good that are gone. The engine sets a topic or a lane aside after too many answers that say
    /// so, and without any good one its entries would end by their age alone.
    mutating func registerAgain() {
        for index in devices.indices {
            if case .unregistered = devices[index].condition { devices[index].condition = .good }
        }
        for index in others.indices {
            if case .unregistered = others[index].condition { others[index].condition = .good }
        }
    }

    /// The devices, without those that name none.
    var named: [Recipient] { devices.compactMap(\.recipient.device) }

    func condition(of recipient: Recipient) -> Condition {
        if recipient.serviceAddress != nil { return others.first { $0.recipient == recipient }?.condition ?? .bad }
        return indices[recipient].map { devices[$0].condition } ?? .bad
    }
}

extension World {
    /// The service reads one notification on an answered connection, and decides.
    func decide(_ entry: LedgerEntry, copy: Int) -> SendResult {
        let isOther = swarm.hasOtherService && entry.lane.route == SimulatedConnector.extra
        let result = isOther ? answerElsewhere(to: entry) : answer(to: entry)
        let isTaken = result.verdict == .confirmed || result.mayBeTaken && otherDice.chance(0.5)
        if isTaken { take(entry, copy: copy) }
        note("service: entry \(entry.uid) \(result.status ?? 0) \(result.reason?.rawValue ?? "")")
        return result
    }

    func take(_ entry: LedgerEntry, copy: Int) {
        if entry.hasOneAttempt, entry.copies.contains(where: \.isTaken) {
            violate(2, "the service took entry \(entry.uid) twice, which was to be sent at most once")
        }
        entry.copies[copy].isTaken = true
    }

    private func answer(to entry: LedgerEntry) -> SendResult {
        // The service never gets it.
        if isUnder(.foreignAnswers) { return SendResult(.foreign, status: service.foreignStatus) }
        if let refusal = refusalByQuota() { return refusal }
        if service.busyTopics.contains(entry.notification.topic) {
            rules.refusedTopics.insert(entry.notification.topic)
            let wait: Duration? = dice.chance(0.5) ? .seconds(dice.number(0...5)) : nil
            return SendResult(apnsStatus: 429, reason: "TooManyRequests", retryAfter: wait)
        }
        if service.wrongTopics.contains(entry.notification.topic) {
            rules.refusedTopics.insert(entry.notification.topic)
            return SendResult(apnsStatus: 400, reason: "TopicDisallowed")
        }
        if strikes(.sporadicForbidden) {
            return SendResult(apnsStatus: 403, reason: "InvalidProviderToken")
        }
        if isUnder(.credentialsRefused) || service.isKeyRevoked {
            return SendResult(apnsStatus: 403, reason: "InvalidProviderToken")
        }
        if strikes(.expiredProviderToken, times: 3) {
            return SendResult(apnsStatus: 403, reason: "ExpiredProviderToken")
        }
        if strikes(.refusedStream, times: 3) { return .notSent("REFUSED_STREAM") }
        if isUnder(.wrongEnvironment) { return SendResult(apnsStatus: 400, reason: "BadDeviceToken") }
        if isUnder(.overload), dice.chance(0.7) {
            return dice.pick([
                SendResult(apnsStatus: 503, reason: "ServiceUnavailable", retryAfter: .seconds(dice.number(0...5))),
                SendResult(apnsStatus: 500, reason: "InternalServerError"),
                SendResult(apnsStatus: 503, reason: "Shutdown"),
            ])
        }
        if strikes(.tooManyRequests, times: 3) {
            return SendResult(
                apnsStatus: 429, reason: dice.pick(["TooManyRequests", "TooManyProviderTokenUpdates"]),
                retryAfter: dice.chance(0.5) ? .seconds(dice.number(0...30)) : nil)
        }
        if strikes(.strangeStatus, times: 3) {
            return SendResult(apnsStatus: dice.pick([302, 404, 499]), reason: "Strange")
        }
        if application.isMalformed(entry.notification) { return SendResult(apnsStatus: 400, reason: "PayloadEmpty") }
        if let word = service.topicsElsewhere[entry.notification.topic], !entry.notification.isBroadcast {
            return SendResult(apnsStatus: 400, reason: word)
        }
        if service.isStranger(entry.notification.recipient, to: entry.notification.topic) {
            return SendResult(apnsStatus: 400, reason: "DeviceTokenNotForTopic")
        }
        if isElsewhere(entry) { return SendResult(apnsStatus: 400, reason: "BadDeviceToken") }
        switch service.condition(of: entry.notification.recipient) {
        case .good: return .confirmed200
        case .bad: return SendResult(apnsStatus: 400, reason: "BadDeviceToken")
        case .unregistered(let since):
            return SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: since)
        }
    }

    /// As another service than Apple's answers.
    private func answerElsewhere(to entry: LedgerEntry) -> SendResult {
        if isUnder(.otherStops) { return ImaginaryService.answer(.noLicence) }
        if strikesOther(.otherUnknown, times: 10) {
            let wait: Duration? = otherDice.chance(0.5) ? .seconds(otherDice.number(0...10)) : nil
            return ImaginaryService.answer(otherDice.pick([.storm, .lostInFog]), retryAfter: wait)
        }
        if strikesOther(.otherBusy, times: 10) {
            let wait: Duration? = otherDice.chance(0.5) ? .seconds(otherDice.number(0...30)) : nil
            return ImaginaryService.answer(otherDice.pick([.nestBusy, .loftFull]), retryAfter: wait)
        }
        if application.isMalformed(entry.notification) { return ImaginaryService.answer(.tooHeavy) }
        switch service.condition(of: entry.notification.recipient) {
        case .good: return ImaginaryService.confirmed
        case .bad: return ImaginaryService.answer(.wrongFeather)
        case .unregistered: return ImaginaryService.answer(.nestEmpty)
        }
    }

    /// Trouble of another service than Apple's, while it has a route.
    func troubleElsewhere() {
        guard swarm.hasOtherService, routes.count > 2 else { return }
        if strikesOther(.otherStops, times: 0.2) {
            spells[.otherStops] = now + .milliseconds(otherDice.steep(100...60_000))
        }
        let index = otherDice.number(0...service.others.count - 1)
        if strikesOther(.otherGone, times: 0.5) { service.others[index].condition = .unregistered(wall) }
        if strikesOther(.otherSuspects, times: 0.2) { service.others[index].condition = .bad }
        if strikesOther(.otherRegisters, times: 0.5) {
            service.others[index].condition = .good
            if otherDice.chance(0.5) { service.others[index].registeredAt = wall }
        }
    }

    /// The service reads one notification of a binary connection.
    ///
    /// - Returns: nil when it is taken, which is not said.
    func decideBinary(_ entry: LedgerEntry, copy: Int) -> SendResult? {
        if strikes(.processingError, times: 3) {
            return SendResult(.deferred(.service), status: 1, reason: .internalServerError)
        }
        if application.isMalformed(entry.notification) {
            return SendResult(.rejected(.notification), status: 7, reason: .payloadTooLarge)
        }
        if service.topicsElsewhere[entry.notification.topic] != nil { return .invalidToken }
        if case .good = service.condition(of: entry.notification.recipient) {
        } else if !isHealing {
            return .invalidToken
        }
        // A topic that has bad tokens only ends by age alone, so in the end all are good.
        take(entry, copy: copy)
        note("service: took entry \(entry.uid)")
        return nil
    }

    /// What was on the wire when its connection ended.
    func stepStragglers() {
        guard !stragglers.isEmpty, isHealing || dice.chance(0.3) else { return }
        let (entry, copy) = stragglers.remove(at: dice.number(0...stragglers.count - 1))
        guard isHealing || dice.chance(0.7) else { return }
        if entry.lane.route != SimulatedConnector.cumulative {
            _ = decide(entry, copy: copy)
        } else {
            _ = decideBinary(entry, copy: copy)
        }
    }
}

extension SendResult {
    /// Whether the service may have taken it, by its answer.
    fileprivate var mayBeTaken: Bool { verdict == .unknown || mayHaveBeenTaken }
    fileprivate static let confirmed200 = SendResult(.confirmed, status: 200)
    fileprivate static let invalidToken = SendResult(.rejected(.suspectToken), status: 8, reason: .invalidToken)
}
