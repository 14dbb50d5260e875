public import Holdfast

/// A route's signing key: a sender that has it may submit for the route's topics, with provider tokens as Apple accepts
/// them.
public struct SubmitterKey: Hashable, Sendable {
    /// The `.p8` file of the route; only its public half is kept.
    public var source: CredentialSource
    /// The key's identifier: the `kid` of its tokens.
    public var keyID: String
    /// The team's identifier: the `iss` of its tokens.
    public var teamID: String
    /// The topics of the route; nil for those that no other route serves.
    public var topics: Set<String>?
    /// The environment of the route; nil for both. Default: nil.
    public var environment: PushEnvironment?
    /// The interval at which its file is checked; a new key in it is taken up, and tokens of the former key are refused
    /// from then on. Nil reads it only with a configuration. The shortest interval of all keys counts. Default: 10 s.
    public var reloadEvery: Duration? = .seconds(10)

    /// Creates a key.
    public init(_ source: CredentialSource, keyID: String, teamID: String, topics: Set<String>? = nil) {
        self.source = source
        self.keyID = keyID
        self.teamID = teamID
        self.topics = topics
    }
}
