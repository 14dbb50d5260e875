/// When credentials that have worked count as refused, because a key may be revoked at any time.
public struct CredentialPolicy: Hashable, Sendable {
    /// The number of refusals, without a confirmation between them, after which the credentials count as refused at once.
    /// Default: 100.
    public var greatestRefusals = 100
    /// The number of refusals after which the credentials count as refused if nothing was confirmed for ``silence``.
    /// Default: 3.
    public var leastRefusals = 3
    /// The time without a confirmation for ``leastRefusals``. Default: 10 s.
    public var silence: Duration = .seconds(10)
    /// The upper bound of the wait of an entry that was refused with credentials that still count as good; with jitter, and
    /// without an attempt counted. It doubles, up to the longest backoff, while this entry is refused again and no other is
    /// answered. Default: 10 s.
    public var pause: Duration = .seconds(10)

    /// Creates the default policy.
    public init() {}
}
