import HoldfastLMDB

/// The fate of the requests in a failed commit.
///
/// liblmdb's commit writes the pages, syncs, and writes the meta page. Until the meta page is begun nothing of it can
/// show after a reopen; liblmdb's return code does not say how far it came.
enum CommitFailure: Hashable {
    /// Certainly not there, for want of room: it may be tried again with less.
    case noRoom
    /// The fate is unknown. The journal must be reopened.
    case undetermined

    /// - Parameters:
    ///   - isDiskFull: whether the file system has no room, or refused an allocation for want of it. `pwrite` of a part of the
    ///     bytes, which is how a full disk may look, is reported by liblmdb as EIO.
    ///   - isPanicked: whether the environment refuses everything since: the sign of a failed meta page.
    init(_ error: LMDBError, isDiskFull: Bool, isPanicked: Bool) {
        if isPanicked {
            self = .undetermined
            return
        }
        let isHalfWrite = error.code == .inputOutput && isDiskFull
        self = error.code.isWantOfRoom || isHalfWrite ? .noRoom : .undetermined
    }
}
