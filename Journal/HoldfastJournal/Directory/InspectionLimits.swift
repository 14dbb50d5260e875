/// Limits on reading a journal in use, which cannot reuse freed pages meanwhile.
///
/// While the pages of a commit are read, pages that the owner frees stay as they are, so its file grows with each write.
/// At a limit the reading ends with ``Holdfast/JournalError/Code/limitReached``, and nothing is kept.
package struct InspectionLimits: Sendable {
    /// The time for each of the two files. Default: five minutes.
    package var time: Duration = .seconds(300)
    /// Bytes by which a file may grow meanwhile. Default: 1 GiB.
    package var growth = 1 << 30

    /// The default limits.
    package init() {}
}
