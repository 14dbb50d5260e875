extension NotificationValidator {
    /// The rules for every service that is not Apple's. Those of one alone are its connector's, which answers for them.
    func validate(_ notification: borrowing PushNotification, for service: ServiceLimits) throws(Refusal) {
        let topic = notification.topic
        guard case .service(let address) = notification.recipient, service.kinds.contains(address.kind) else {
            let takes = service.kinds.map(\.name).sorted().joined(separator: ", ")
            throw Refusal(
                .recipientUnsupported,
                "the route of the topic \(topic) takes addresses of the kind \(takes), not \(notification.recipient.kindName)"
            )
        }
        guard notification.pushType == nil else {
            throw Refusal(.invalidPushType, "push types are Apple's; the route of the topic \(topic) has none")
        }
        guard service.payloadKinds.contains(notification.payloadKind) else {
            throw Refusal(
                .payloadUnsupported, "the route of the topic \(topic) does not take payloads of this form")
        }
        if notification.collapseID != nil, limits.collapseID == 0 {
            throw Refusal(.badCollapseID, "the route of the topic \(topic) has no collapse ids")
        }
    }
}

extension Recipient {
    fileprivate var kindName: String {
        switch self {
        case .device: "a device token"
        case .channel: "a channel"
        case .service(let address): address.kind.name
        }
    }
}
