/// When credentials that have worked are taken for refused: a key may be revoked in mid-life.
public struct CredentialPolicy: Hashable, Sendable {
    /// So many refusals, with no confirmation between them, convict at once. Default: 100.
    public var greatestRefusals = 100
    /// So many convict when nothing was confirmed for ``silence``. Default: 3.
    public var leastRefusals = 3
    /// Default: 10 s.
    public var silence: Duration = .seconds(10)
    /// The upper bound of the wait of an entry that was refused with credentials which are not convicted; with jitter, and
    /// no attempt is counted. It doubles, up to the longest backoff, while this entry is refused again and nothing else
    /// is answered. Default: 10 s.
    public var pause: Duration = .seconds(10)

    /// Creates the default policy.
    public init() {}
}
