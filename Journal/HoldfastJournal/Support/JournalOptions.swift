package import Holdfast
package import HoldfastLMDB

/// The settings of a journal: durability, limits on its size, and the sizes of its commits.
public struct JournalOptions: Sendable {
    /// Whether to create the journal when there is none. Default: `true`.
    public var create = true
    /// The loss that a notification survives once its receipt is given. Default: power loss.
    public var durability = Durability.full
    /// Bytes in use beyond which appends are refused. Settlements are not refused, and may exceed it a little. Remembered
    /// identities take a quarter of it at most: the oldest give way. Default: 16 GiB. Not stored: each opening sets it anew.
    public var limit = 16 << 30
    /// Unconfirmed entries beyond which appends are refused. Default: `nil`, so that only ``limit`` counts. Not stored:
    /// each opening sets it anew.
    public var entryLimit: Int?
    /// Bytes allocated on disk ahead of use, so that a journal on a full disk can drain. Default and minimum: 64 MiB.
    public var reserve = 64 << 20
    /// The limit on the bytes of new records in one commit. A larger submission has a commit of its own, up to
    /// ``greatestSubmission``. Default: 8 MiB.
    public var greatestCommit = 8 << 20
    /// The limit on the bytes of one submission, which is always one commit. Larger ones are refused. Default: 64 MiB.
    public var greatestSubmission = 64 << 20
    /// The limit on the bytes of submissions that wait for their commit. Beyond it they are refused. Default: 256 MiB.
    public var greatestBacklog = 256 << 20
    /// The limit on settlements and promotions in one commit. Default: 1000.
    public var greatestSettlementCommit = 1000
    /// The limit on settlements and promotions in one commit while the journal or the disk is full, since a deletion takes
    /// pages before it frees them. Default: 100.
    public var greatestSettlementCommitWhenFull = 100
    /// The time for settlements and promotions in one commit, not counting the sync. A large batch continues in the next
    /// commits, with appends in between. Default: 50 ms.
    public var greatestCommitTime = Duration.milliseconds(50)
    /// The number of blacklisted recipients from which on a filter in memory saves look-ups on disk. The filter takes
    /// about three bytes for each. Default: 100 000.
    public var blacklistFilterThreshold = 100_000
    /// The limit on the bytes of the blacklist's filter. A blacklist too large for it is looked up on disk more often.
    /// Default: 64 MiB, enough for 40 million recipients.
    public var greatestBlacklistFilter = 64 << 20

    /// The number of pages of each file that an opening checks before liblmdb reads them. On a damaged page liblmdb may
    /// end the process by a signal, or loop for ever. A journal with damage in the checked pages is refused; damage beyond
    /// them is found only when it is read. Default: 16 384, which are 64 MiB and take about 0.4 s. `Int.max` checks all.
    public var pagesCheckedAtOpening = 16_384

    /// The keys with which the journal is sealed: a new journal is sealed from its first byte, and one that is there opens only
    /// with its keys. Default: `nil`, for a journal that is not sealed.
    public var keys: JournalKeys?

    /// Runs the journal step by step, without threads, for a simulation. See ``Stepping``.
    package var stepping: Stepping?
    /// Keeps each commit of the entries before it is made here: the directory is then a working copy of what lies elsewhere.
    /// The blacklist has a way of its own. nil for a journal that is all there is.
    package var gate: (any CommitGate)?
    /// The number of the last commit in the copy that was made for the ``gate``. Another copy is not opened: what is kept would go on
    /// from another state. nil where that can't be known.
    package var copyNumber: UInt64?
    /// Whether this process may go on with what its ``gate`` keeps. nil for a journal that is all there is.
    package var ownership: (any JournalOwnership)?
    /// Of the identities by which repeats are recognised, the same for all journals with this ``gate``. nil for the journal's own
    /// key.
    package var repeatKey: IdentityKey?
    /// How far somebody else has gone on from an earlier state of this journal, which does not show what he has sent. Up to there,
    /// what waits counts as possibly sent, and new UIDs begin far beyond. What is deferred or scheduled keeps what its record says,
    /// until ``LMDBJournal/promoteAllDue(_:)`` brings it back. nil where nobody has.
    package var forgotten: Forgotten?
    /// A time at this opening that is known from elsewhere, and from which this machine's clock does not differ much. So a clock is not
    /// doubted because the journal was closed for long. nil where only the journal can say it.
    package var provenTime: WallTime?
    /// Below the UIDs of a new journal, so that those of several journals differ.
    package var uidBase: UInt64 = 0

    /// The blacklist that this journal uses in the place of its own, which then stays as it is. Whoever opened it closes it, after
    /// the journal. nil for the journal's own.
    package var blacklist: (any BlacklistStorage)?

    /// Recipients that are read in one snapshot when the filter is built.
    var blacklistFilterStretch = 20_000

    /// The default options.
    public init() {}

    static let leastReserve = 64 << 20

    /// The part of ``limit`` that remembered identities take at most, as one in so many: about what those of small notifications
    /// take that fill the rest.
    package static let identityPart = 4

    /// Address space for `entries/data.mdb`, which is not memory. It is far above the limit, because free pages that a
    /// slow reader still sees cannot be reused.
    package var mapByteCount: Int { Int(clamping: Self.mapByteCount(limit: limit)) }

    static func mapByteCount(limit: Int) -> UInt64 {
        let limit = UInt64(clamping: limit)
        return max(limit.multipliedReportingOverflow(by: 4).partialValue, limit &+ (64 << 30))
    }

    /// The loss that an accepted notification survives.
    public enum Durability: Sendable {
        /// Loss of power at any instant: each commit is synced.
        case full
        /// The end of the process at any instant, but not loss of power or a crash of the kernel. After those the journal
        /// may have lost its last seconds or be unreadable, because unsynced pages reach the disk in any order.
        case process
    }
}

extension JournalOptions {
    /// How far others have gone on from what a journal has.
    package enum Forgotten: Sendable {
        /// The last UIDs by lane, where the one is here who has done it.
        case upTo([LaneKey: UInt64])
        /// Nobody is here who knows.
        case unknown

        /// - Returns: the last UID of a lane that may have been sent.
        func last(of lane: LaneKey) -> UInt64 {
            switch self {
            case .upTo(let last): last[lane] ?? 0
            case .unknown: .max
            }
        }
    }
}

extension JournalOptions.Durability {
    var access: Environment.Access {
        switch self {
        case .full: .readWrite
        case .process: .readWriteUnsynced
        }
    }
}
