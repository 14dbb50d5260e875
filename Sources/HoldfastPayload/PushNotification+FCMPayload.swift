public import Holdfast

extension PushNotification {
    /// Creates a notification through Firebase Cloud Messaging, with a built message.
    ///
    /// - Parameters:
    ///   - address: a Firebase installation id, a token, a topic or a condition.
    ///   - project: the id of the Firebase project, which selects the route.
    ///   - priority: nil for the payload's own: ``HoldfastPayload/FCMPayload/priority``.
    ///   - expiration: nil for the payload's own, by ``HoldfastPayload/FCMPayload/Android/timeToLive``: 0 is one attempt.
    ///   - now: when it is accepted, from which that time counts.
    /// - Throws: ``HoldfastPayload/FCMPayloadError``: the message is too large, the address is another service's, or Google would
    ///   refuse one of its fields.
    public init(
        address: ServiceAddress, project: String, payload: FCMPayload, priority: Priority? = nil,
        expiration: Expiration? = nil, id: NotificationID? = nil, registeredAt: WallTime? = nil,
        guarantee: Guarantee = .atLeastOnce, tag: [UInt8] = [], context: [UInt8] = [], deliverAfter: WallTime? = nil,
        deliveryHours: DeliveryHours? = nil, newestWins: Bool = false, at now: WallTime = EngineClock.system.wall()
    ) throws(FCMPayloadError) {
        guard
            [.firebaseInstallation, .firebaseToken, .firebaseTopic, .firebaseCondition].contains(address.kind)
        else {
            throw .invalid(
                "the address", "is of kind \(address.kind.name), which Firebase Cloud Messaging does not have")
        }
        let ownExpiration = payload.android?.timeToLive.map { time -> Expiration in
            time >= .seconds(1) ? .at(now.advanced(by: time).seconds) : .once
        }
        self.init(
            address: address, topic: project, payload: try payload.encoded(), priority: priority ?? payload.priority,
            expiration: expiration ?? ownExpiration, id: id, registeredAt: registeredAt, guarantee: guarantee, tag: tag,
            context: context, deliverAfter: deliverAfter, deliveryHours: deliveryHours, newestWins: newestWins)
    }
}

extension FCMPayload {
    /// The priority of the message in Holdfast's queue: by ``Android/priority``; without one, 5 for a message that shows nothing,
    /// as Google's own default is, and nil (Holdfast's default, 10) for any other.
    public var priority: Priority? {
        switch android?.priority {
        case .high?: return .immediate
        case .normal?: return .considerate
        default: break
        }
        if android?.version2 == .backgroundSync { return .considerate }
        let isShown =
            notification != nil || apple != nil || webPush != nil || android?.notification != nil
            || android?.version2 != nil
        return isShown ? nil : .considerate
    }
}
