package import Holdfast

/// Whether this process may go on with a journal that lies elsewhere, of which its directory is a working copy.
///
/// All of it is answered from memory, and may be asked at any time.
package protocol JournalOwnership: Sendable {
    /// As of ``JournalService/handOutUntil``.
    var handOutUntil: Duration? { get }
    /// The error for appends where they could not be kept now; `nil` where they may be.
    var refusal: JournalError? { get }
    /// Why nothing is kept any more; `nil` while commits are.
    var ending: JournalError? { get }
}
