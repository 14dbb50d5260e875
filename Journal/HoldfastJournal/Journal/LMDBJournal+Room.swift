package import Holdfast
import HoldfastLMDB

/// Room on the file system, looked at when a journal is opened.
extension LMDBJournal {
    package var tellsRoom: Bool { true }

    /// The reason why appends are refused for want of room; `nil` when there is room. From memory: each append and a look
    /// each second renew it.
    package var wantOfRoom: JournalError? { shared.withLock { shared in shared.wantOfRoom } }

    package var refusal: JournalError? { options.ownership?.refusal }

    package var firstUID: UID { UID(options.uidBase + 1) }

    /// Bytes that a journal needs on its file system before it takes a notification.
    private static func least(_ options: Options) -> Int {
        max(options.reserve, Options.leastReserve) + SpaceGuard.step + 2 * LMDBBlacklist.reserve
    }

    /// Bytes of the first pages, lock files and notes.
    private static let firstPages = 1 << 20

    /// Bytes that a working copy needs on its file system.
    ///
    /// - Parameter byteCount: of what is in the journal.
    package static func roomForCopy(of byteCount: Int = 0, _ options: Options = Options()) -> Int {
        least(options) + firstPages + byteCount
    }

    /// How much must be free for a new journal, for whoever makes room.
    package static var roomWords: String {
        "With \(megabytes(roomForCopy())) free, a new journal takes notifications"
    }

    /// Bytes that a host of a fleet needs on a file system before it takes a notification: for the working copy of its own journal,
    /// and for its copy of the blacklist.
    package static var roomForHost: Int { roomForCopy() + 2 * LMDBBlacklist.reserve }

    /// Refuses a file system that could not hold a host's copies if it were empty.
    package static func refuseSmallFileSystem(ofHost path: String) throws(JournalError) {
        try refuse(
            path, below: roomForHost,
            "a host needs \(megabytes(roomForHost)) for the working copy of its journal and its copy of the blacklist",
            reserve: Options.leastReserve)
    }

    /// Refuses a file system that could not hold the journal if it were empty. (One that is only full is not refused: a
    /// journal that opens can drain.)
    ///
    /// - Parameter used: bytes in use. Free pages inside the file do not count: they are used again.
    static func refuseSmallFileSystem(_ path: String, used: Int, _ options: Options) throws(JournalError) {
        if options.stepping != nil { return }
        let needed = least(options) + used
        try refuse(
            path, below: needed, "the journal needs \(megabytes(needed))",
            reserve: max(options.reserve, Options.leastReserve))
    }

    private static func refuse(
        _ path: String, below needed: Int, _ words: String, reserve: Int
    ) throws(JournalError) {
        let total = try translated("look at", path) { () throws(LMDBError) in try Files.totalBytes(at: path) }
        guard total < needed else { return }
        throw JournalError(
            .diskFull,
            "the file system of \(path) has \(megabytes(total)) in all, and \(words): \(megabytes(reserve)) of it are the "
                + "reserve by which a full journal drains. Use a larger file system.")
    }

    /// Allocates what is in use and the reserve. On a full disk the journal opens all the same, so that it can drain.
    ///
    /// - Parameter canDrain: whether there is anything to drain.
    static func reserve(
        _ environment: Environment, _ figures: CommitFigures, _ options: Options, _ path: String, canDrain: Bool
    ) throws(JournalError) -> SpaceGuard {
        let info = try translated("open", path) { () throws(LMDBError) in try environment.info() }
        let used = info.highWaterPages * info.pageByteCount
        var space = SpaceGuard(
            limit: options.limit, reserve: max(options.reserve, Options.leastReserve), mapByteCount: info.mapByteCount,
            pageByteCount: info.pageByteCount, allocated: used, usedPages: figures.usedPages)
        if options.stepping != nil {
            space.allocated = space.mapByteCount
            return space
        }
        if !canDrain { try refuseSmallFileSystem(path, used: figures.usedPages * info.pageByteCount, options) }
        let target = used + space.reserve + SpaceGuard.step
        do throws(LMDBError) {
            try environment.allocateData(from: 0, to: target)
            space.allocated = target
        } catch {
            space.refusal = error.code
            // An earlier process has allocated ahead of use, too.
            let allocated = try translated("look at", path) { () throws(LMDBError) in
                try environment.allocatedDataByteCount()
            }
            space.allocated = max(used, allocated)
        }
        return space
    }

    static func warnings(
        _ environment: Environment, _ space: SpaceGuard, _ path: String
    ) throws(JournalError) -> [String] {
        var warnings: [String] = []
        let (isCopiedOnWrite, available) = try translated("look at", path) { () throws(LMDBError) in
            (try environment.isDataCopiedOnWrite, try Files.availableBytes(at: path))
        }
        if space.isDiskFull {
            let why =
                switch space.refusal {
                case .fileTooLarge?: JournalError.fileLimitAdvice
                case .overQuota?: "The quota of its owner is used up."
                default: "Its file system has \(megabytes(available)) free."
                }
            warnings.append(
                "\(path) has no room for its reserve of \(megabytes(space.reserve)). \(why) Notifications are taken as long "
                    + "as there is room within the journal itself, and then refused until there is more; those that are "
                    + "there go out.")
        }
        if isCopiedOnWrite {
            warnings.append(
                "\(environment.path)/data.mdb is on btrfs and copied on write, so the room kept for it is worthless on a full "
                    + "disk. Stop its owner and run `holdfast journal compact --journal \(ShellText.word(path))`, which writes "
                    + "it anew without.")
        }
        return warnings
    }

    private static func megabytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
}
