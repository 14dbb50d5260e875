/// The recipients and payloads that a push service other than Apple's takes.
public struct ServiceLimits: Hashable, Sendable {
    /// The kinds of addresses.
    public var kinds: Set<ServiceAddress.Kind>
    /// The forms of payloads.
    public var payloadKinds: Set<PayloadKind>
    /// The time that an address stays on the blacklist after the service called it bad. `nil` (default), as for Apple's device
    /// tokens: until a newer registration. Some services call an address bad that is good again later without one.
    public var blacklistLifetime: Duration?
    /// Advice in the service's own terms; `nil` for general advice.
    package var advice: ServiceAdvice?

    /// Creates limits. Default for payloads: JSON alone.
    public init(
        kinds: Set<ServiceAddress.Kind>, payloadKinds: Set<PayloadKind> = [.json], blacklistLifetime: Duration? = nil
    ) {
        self.kinds = kinds
        self.payloadKinds = payloadKinds
        self.blacklistLifetime = blacklistLifetime
    }
}

/// Advice to operators in a service's own terms, where Apple's would mislead: see ``RouteFindings``.
package struct ServiceAdvice: Hashable, Sendable {
    /// The next step when the service refuses the route's credentials.
    package var credentialsRefused: String
    /// The next step when the service calls most recipients bad.
    package var recipientsRefused: String
    /// What is likely to be wrong when the service calls most recipients bad: a noun, such as "the project", to which "looks wrong"
    /// is added.
    package var suspicion: String

    package init(credentialsRefused: String, recipientsRefused: String, suspicion: String) {
        (self.credentialsRefused, self.recipientsRefused) = (credentialsRefused, recipientsRefused)
        self.suspicion = suspicion
    }
}
