/// The recipients and payloads that a push service takes which is not Apple's.
public struct ServiceLimits: Hashable, Sendable {
    /// The kinds of addresses.
    public var kinds: Set<ServiceAddress.Kind>
    /// The forms of payloads.
    public var payloadKinds: Set<PayloadKind>
    /// How long an address stays on the blacklist that the service has called bad. Nil, as of Apple's device tokens: until a
    /// newer registration. Some services call an address bad that is good again later, without a new registration.
    public var blacklistLifetime: Duration?

    public init(
        kinds: Set<ServiceAddress.Kind>, payloadKinds: Set<PayloadKind> = [.json], blacklistLifetime: Duration? = nil
    ) {
        self.kinds = kinds
        self.payloadKinds = payloadKinds
        self.blacklistLifetime = blacklistLifetime
    }
}
