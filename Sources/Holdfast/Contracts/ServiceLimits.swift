/// The recipients and payloads that a push service other than Apple's takes.
public struct ServiceLimits: Hashable, Sendable {
    /// The kinds of addresses.
    public var kinds: Set<ServiceAddress.Kind>
    /// The forms of payloads.
    public var payloadKinds: Set<PayloadKind>

    /// Creates limits. Default for payloads: JSON alone.
    public init(kinds: Set<ServiceAddress.Kind>, payloadKinds: Set<PayloadKind> = [.json]) {
        self.kinds = kinds
        self.payloadKinds = payloadKinds
    }
}
