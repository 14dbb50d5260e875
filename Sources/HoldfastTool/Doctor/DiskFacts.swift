internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// The disk under a journal.
struct DiskFacts: Sendable {
    /// The kind of file system, such as `ext4`; nil where it can't be examined.
    var fileSystem: String?
    /// A kind that can't keep a journal's promises; nil for any other.
    var unsupported: String?
    /// Bytes that this user may still write.
    var free: Int?
    var total: Int?
    /// By how much the journal and its history may grow by their own limits; nil where nobody knows.
    var growth: Int?
    /// Bytes that ended notifications take in a day, as it was of late; nil where nobody knows.
    var historyPerDay: Int?
    /// Whether the process that uses the journal says that it takes nothing, since the disk is full.
    var refuses = false
    /// Why a host of a fleet can't begin with its working copies there; nil where it can.
    var refusal: String?
    /// Whether there is a journal already, with room of its own.
    var isMade = true
    /// Whether it has the working copies of a fleet's host, which may be lost at any time.
    var isOfCopies = false
    /// Whether accepted notifications are to survive a loss of power.
    var isFull = true
    var sync: Sync

    enum Sync: Sendable {
        case times(SyncTimes)
        /// Nothing was written, for this reason.
        case skipped(String)
        case failed(String)
    }
}

/// How long small writes took to be on disk.
struct SyncTimes: Hashable, Sendable {
    var rounds: Int
    var median: Duration
    var worst: Duration

    /// `nil` without any.
    init?(_ times: [Duration]) {
        let sorted = times.sorted()
        guard let last = sorted.last else { return nil }
        (rounds, median, worst) = (sorted.count, sorted[sorted.count / 2], last)
    }
}

extension DiskFacts {
    /// Above which a commit holds up senders.
    private static let slowMedian = Duration.milliseconds(30)
    /// Above which one of them waits as long as some senders wait for an answer.
    private static let slowWorst = Duration.seconds(1)
    /// Free bytes below which the journal does not grow for long.
    private static let least = 64 << 20

    var findings: [DoctorFinding] { [kind, space].compactMap(\.self) + [syncTime] }

    private var kind: DoctorFinding? {
        if let unsupported {
            return .fault(
                .disk, "file-system", nil,
                "it is \(unsupported), on which locks, maps or syncs are not what a journal needs: it is refused there",
                next: "put the journal on a disk of this machine, such as ext4 or xfs")
        }
        guard let fileSystem else { return nil }
        switch fileSystem {
        case "tmpfs" where isOfCopies, "ramfs" where isOfCopies, "overlay" where isOfCopies:
            return .ok(
                .disk, "file-system", nil,
                "\(fileSystem): what is accepted is in the database, and a lost copy is made again")
        case "tmpfs", "ramfs":
            return .warning(
                .disk, "file-system", nil,
                "it is \(fileSystem), in memory: what is accepted survives no restart of the machine",
                next: "put the journal on a disk, unless this is a trial")
        case "overlay":
            return .warning(
                .disk, "file-system", nil,
                "it is overlay, the inside of a container: the journal goes with the container",
                next: "mount a volume for the journal")
        default: return .ok(.disk, "file-system", nil, "\(fileSystem)")
        }
    }

    private var space: DoctorFinding? {
        if let refusal {
            return .fault(
                .disk, "space", nil, refusal.hasSuffix(".") ? String(refusal.dropLast()) : refusal,
                next:
                    "make room on this file system, or name a larger one by journal.path: `serve` takes nothing before")
        }
        guard let free else { return nil }
        var words = "\(Format.bytes(free)) free\(total.map { " of \(Format.bytes($0))" } ?? "")"
        if refuses {
            return .fault(
                .disk, "space", nil, "\(words): the disk is full, and nothing more is taken",
                next: "make room on this file system; what waits is delivered meanwhile")
        }
        if free < SystemProbe.leastForNew, !isMade {
            return .fault(
                .disk, "space", nil, "\(words): the disk is full, and no journal can be made there",
                next:
                    "make room on this file system: with \(SizeText.mebibytes(LMDBJournal.roomForCopy())) free, a new journal takes "
                    + "notifications")
        }
        if free < Self.least {
            return .warning(
                .disk, "space", nil,
                isMade
                    ? "\(words): notifications are taken into the room that the journal has already, and refused when that is used up"
                    : "\(words): hardly any notification is taken into the journal that is made there",
                next: "make room on this file system")
        }
        guard let growth else { return .ok(.disk, "space", nil, words) }
        if let historyPerDay, historyPerDay > 0 {
            words += "; ended notifications take \(Format.bytes(historyPerDay)) a day"
        }
        if growth > free - Self.least {
            return .warning(
                .disk, "space", nil,
                "\(words), and the journal may grow by \(Format.bytes(growth)): the disk is full before the journal's own limit is reached",
                next: "make room, or lower journal.limit and journal.history.limit together by "
                    + "\(Format.bytes(growth - max(free - Self.least, 0)))")
        }
        return .ok(.disk, "space", nil, "\(words); the journal may grow by \(Format.bytes(growth))")
    }

    private var syncTime: DoctorFinding {
        switch sync {
        case .skipped(let why): return .skipped(.disk, "sync-time", nil, why)
        case .failed(let why):
            return .fault(
                .disk, "sync-time", nil, "a small file can't be written and synced there: \(why)",
                next: "see to the disk and to its rights: nothing can be accepted like this")
        case .times(let times):
            let words =
                "a sync takes \(Format.duration(times.median)) in the middle, \(Format.duration(times.worst)) at worst, "
                + "of \(times.rounds)"
            if times.median > Self.slowMedian || times.worst > Self.slowWorst {
                return .warning(
                    .disk, "sync-time", nil,
                    "\(words): each commit takes that long, and so does the answer to a sender",
                    next: "use a disk with a cache that survives a loss of power, or look who else writes to it")
            }
            if !isFull {
                return .warning(
                    .disk, "sync-time", nil,
                    "\(words); with `journal.durability: process` commits do not wait for it, and a loss of power may leave "
                        + "the journal unreadable",
                    next: "take the setting away, unless that is meant")
            }
            return .ok(.disk, "sync-time", nil, words)
        }
    }
}
