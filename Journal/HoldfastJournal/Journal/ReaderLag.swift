/// How far behind a reader of the journal is. What was freed since cannot be used again until it moves on, so under load
/// the file grows.
public struct ReaderLag: Hashable, Sendable {
    public let process: Int32
    /// Commits since the one that it reads.
    public let commits: Int
}
