import HoldfastMocking

extension RequestValidator {
    static let broadcastPayloadLimit = 5120

    /// Checks a broadcast except for method, path, provider token and the state of its channel.
    func rejection(ofBroadcast fields: RequestFields, bodyByteCount: Int) -> MockRejection? {
        if let rejection = Self.rejection(ofChannelIn: fields) { return rejection }
        guard let pushType = fields.pushType else { return "MissingPushType" }
        guard pushType == "liveactivity" else { return "InvalidPushType" }
        if let priority = fields.priority, !Self.isPriority(priority) { return "BadPriority" }
        guard let expiration = fields.expiration, Self.isExpiration(expiration) else { return "BadExpirationDate" }
        guard bodyByteCount > 0 else { return "PayloadEmpty" }
        guard bodyByteCount <= Self.broadcastPayloadLimit else { return "PayloadTooLarge" }
        return fields.hasDuplicates ? "DuplicateHeaders" : nil
    }

    /// The configured refusal of an app; nil for none.
    func rejection(ofBundle bundleID: String) -> MockRejection? {
        guard let topics else { return nil }
        return topics.contains(bundleID) ? nil : "TopicMismatch"
    }

    /// Checks the two fields that every request about a channel has.
    static func rejection(ofChannelIn fields: RequestFields) -> MockRejection? {
        guard let channel = fields.channel else { return "MissingChannelId" }
        return MockChannel.isID(channel) ? nil : "BadChannelId"
    }
}
