public import Holdfast

/// A signing key of a route: who has it may submit what the route serves, with provider tokens as Apple takes them.
public struct SubmitterKey: Hashable, Sendable {
    /// The `.p8` of the route; only its public half is kept.
    public var source: CredentialSource
    public var keyID: String
    public var teamID: String
    /// What the route serves; nil for what no other route does.
    public var topics: Set<String>?
    /// How often its file is looked at, as the route's connector does; another key in it is taken up, and tokens of the one
    /// before are good no more. Nil reads it again with a configuration alone. The shortest of all keys counts. Default: 10 s.
    public var reloadEvery: Duration? = .seconds(10)

    public init(_ source: CredentialSource, keyID: String, teamID: String, topics: Set<String>? = nil) {
        self.source = source
        self.keyID = keyID
        self.teamID = teamID
        self.topics = topics
    }
}
