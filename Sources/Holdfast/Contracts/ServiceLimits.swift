/// The recipients and payloads that a push service takes which is not Apple's.
public struct ServiceLimits: Hashable, Sendable {
    /// The kinds of addresses.
    public var kinds: Set<ServiceAddress.Kind>
    /// The forms of payloads.
    public var payloadKinds: Set<PayloadKind>

    public init(kinds: Set<ServiceAddress.Kind>, payloadKinds: Set<PayloadKind> = [.json]) {
        self.kinds = kinds
        self.payloadKinds = payloadKinds
    }
}
