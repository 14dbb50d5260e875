/// The lag of a reader of the journal. Pages freed since its commit cannot be reused until it moves on, so under load the
/// file grows.
package struct ReaderLag: Hashable, Sendable {
    /// The reader's process.
    package let process: Int32
    /// Commits since the one that it reads.
    package let commits: Int
}
