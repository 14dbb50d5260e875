/// The recipients and payloads that a push service other than Apple's takes.
public struct ServiceLimits: Hashable, Sendable {
    /// The kinds of addresses.
    public var kinds: Set<ServiceAddress.Kind>
    /// The forms of payloads.
    public var payloadKinds: Set<PayloadKind>
    /// The time that an address stays on the blacklist after the service called it bad. `nil` (default), as for Apple's device
    /// tokens: until a newer registration. Some services call an address bad that is good again later without one.
    public var blacklistLifetime: Duration?

    /// Creates limits. Default for payloads: JSON alone.
    public init(
        kinds: Set<ServiceAddress.Kind>, payloadKinds: Set<PayloadKind> = [.json], blacklistLifetime: Duration? = nil
    ) {
        self.kinds = kinds
        self.payloadKinds = payloadKinds
        self.blacklistLifetime = blacklistLifetime
    }
}
