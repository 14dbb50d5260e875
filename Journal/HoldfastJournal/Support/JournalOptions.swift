import HoldfastLMDB

/// How a journal is kept. Every bound has its name here.
public struct JournalOptions: Sendable {
    /// Whether to make the journal when there is none. Default: yes.
    public var create = true
    /// What a receipt survives. Default: power loss.
    public var durability = Durability.full
    /// Bytes in use beyond which appends are refused; settlements are not. It may be exceeded a little by what is no
    /// append. Default: 16 GiB. Not stored: each opening decides anew.
    public var limit = 16 << 30
    /// Unconfirmed entries beyond which appends are refused. Default: nil, which is as many as ``limit`` takes. Not
    /// stored: each opening decides anew.
    public var entryLimit: Int?
    /// Bytes allocated on disk ahead of use, so that a full disk can be drained. Default and least: 64 MiB.
    public var reserve = 64 << 20
    /// Bytes of new records one commit holds at most. A submission larger than ``greatestSubmission`` is refused; one
    /// larger than this has a commit of its own. Default: 8 MiB.
    public var greatestCommit = 8 << 20
    /// Bytes of one submission, which is always one commit. Default: 64 MiB.
    public var greatestSubmission = 64 << 20
    /// Bytes of submissions that may wait for their commit; beyond, they are refused. Default: 256 MiB.
    public var greatestBacklog = 256 << 20
    /// Settlements and promotions in one commit. Default: 1000.
    public var greatestSettlementCommit = 1000
    /// The same when the journal or the disk is full, since deleting takes pages before it frees them. Default: 100.
    public var greatestSettlementCommitWhenFull = 100
    /// How long a commit takes in settlements and promotions, the sync apart: what is left of a large one has the next
    /// commits, and appends go between. Default: 50 ms.
    public var greatestCommitTime = Duration.milliseconds(50)
    /// Blacklisted tokens from which on a filter in memory keeps look-ups of all others away from the disk. It takes
    /// some three bytes a token. Default: 100 000.
    public var blacklistFilterThreshold = 100_000
    /// Bytes of that filter; a blacklist too large for them is looked up on disk more often. Default: 64 MiB, good for
    /// 40 million tokens.
    public var greatestBlacklistFilter = 64 << 20

    /// Pages of each file that an opening looks at before liblmdb does, which a damaged page may kill by a signal or
    /// keep from ever ending, or take for newer than it is: such a journal is refused as damaged. Beyond them damage is
    /// met only when it is used.
    /// Default: 16 384, which are 64 MiB and take some 0.4 s; `Int.max` looks at all.
    public var pagesCheckedAtOpening = 16_384

    /// For a simulation: the journal has no threads, and is stepped. See ``Stepping``.
    package var stepping: Stepping?

    /// Tokens that are read in one snapshot when that filter is built.
    var blacklistFilterStretch = 20_000

    public init() {}

    static let leastReserve = 64 << 20

    /// Address space for `entries/data.mdb`, which is not memory: far above the limit, since free pages that a slow
    /// reader still sees cannot be used again.
    var mapByteCount: Int { Int(clamping: Self.mapByteCount(limit: limit)) }

    static func mapByteCount(limit: Int) -> UInt64 {
        let limit = UInt64(clamping: limit)
        return max(limit.multipliedReportingOverflow(by: 4).partialValue, limit &+ (64 << 30))
    }

    /// What an accepted notification survives.
    public enum Durability: Sendable {
        /// The loss of power at any instant: each commit is synced.
        case full
        /// The death of the process at any instant, but not the loss of power or a crash of the kernel: after one of
        /// those the journal may have lost its last seconds, or be unreadable altogether, because the order in which
        /// unsynced pages reach the disk is not known.
        case process
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
