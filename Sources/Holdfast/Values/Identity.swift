/// The identity by which a repeated submission is recognised: a keyed 128-bit digest of submitter, topic, recipient, apns-id
/// and payload.
///
/// Real clients send one apns-id to many recipients, and those are different notifications; so the apns-id alone is not an
/// identity. The digest is SipHash-2-4 with 128 bits under the journal's own random key: whoever does not know the key
/// can't build two notifications with one identity, of which the second would be swallowed as a repeat.
package struct Identity: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Parameter submitter: the name of the Producer, or whom a gateway has authenticated.
    init(_ notification: borrowing PushNotification, id: NotificationID, submitter: String, key: IdentityKey) {
        var hash = SipHash128(key: key)
        hash.append(id.high)
        hash.append(id.low)
        // Lengths first, so that no two different lists of fields are one run of bytes.
        let address = notification.recipient.address
        hash.append(
            Self.mark(of: notification.recipient) | Self.mark(of: notification.environment) | UInt64(
                submitter.utf8.count) << 32
                | UInt64(notification.topic.utf8.count) << 16 | UInt64(address.count))
        hash.append(submitter.utf8)
        hash.append(notification.topic.utf8)
        hash.append(address)
        hash.append(notification.payload)
        (high, low) = hash.finalize()
    }
}

extension Identity {
    /// Tells recipients of one address apart that are not the same: in bits that no length reaches.
    private static func mark(of recipient: Recipient) -> UInt64 {
        switch recipient {
        case .device: 0
        case .channel: 1 << 63
        case .service(let address): 1 << 62 | UInt64(address.kind.rawValue) << 52
        }
    }

    /// What a sender asks for in one environment, and in the other, are two notifications.
    private static func mark(of environment: PushEnvironment?) -> UInt64 {
        switch environment {
        case nil: 0
        case .production: 1 << 60
        case .sandbox: 1 << 61
        }
    }
}

/// The secret with which a journal's identities are computed.
public struct IdentityKey: Hashable, Sendable {
    package let first: UInt64
    package let second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Creates a random key from the system's generator.
    public static func random() -> IdentityKey {
        var system = SystemRandomNumberGenerator()
        return IdentityKey(first: system.next(), second: system.next())
    }
}
