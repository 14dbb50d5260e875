import Holdfast
import HoldfastLMDB

/// A journal's two data files, each as one commit left it, for reading without liblmdb.
///
/// At rest the owner lock is held shared, so that nobody begins to write. A journal in use is read at a commit that is
/// pinned as long as its file is being read, within limits.
final class JournalImage {
    typealias Part = JournalPart

    let place: JournalDirectory
    /// The journal's user, for people; `nil` at rest.
    let owner: String?
    private let lock: OwnerLock?
    private let keys: JournalKeys?
    private let limits: InspectionLimits
    private let clock = ContinuousClock()

    /// - Parameter keys: with which it may be sealed.
    init(_ directory: String, _ limits: InspectionLimits, _ keys: JournalKeys? = nil) throws(JournalError) {
        place = JournalDirectory(directory)
        self.keys = keys
        self.limits = limits
        guard place.isEvident else { throw place.notFound }
        try place.checkFileSystem()
        try place.refuseLinks()
        lock = try OwnerLock(reading: place)
        owner = lock == nil ? OwnerLock.owner(of: place) : nil
    }

    /// For one who owns it.
    init(owned place: JournalDirectory, _ keys: JournalKeys? = nil) {
        self.place = place
        self.keys = keys
        limits = InspectionLimits()
        lock = nil
        owner = nil
    }

    /// For one who owns it and has its environments open.
    init(inUse place: JournalDirectory, _ limits: InspectionLimits, _ keys: JournalKeys? = nil) {
        self.place = place
        self.keys = keys
        self.limits = limits
        lock = nil
        owner = "this process"
    }

    /// One of the two files, open for as long as `body` runs.
    struct Opened {
        let part: Part
        /// The journal's.
        let directory: String
        let finding: DataFile.Finding
        /// The data file's path; `nil` when there is no such file.
        let path: String?
        let isInUse: Bool
        /// How its rows are sealed; nil where they are not.
        let seal: JournalSeal?
        /// Whether to go on; to be asked for each page.
        let goOn: () -> Bool
    }

    /// Runs `body` with a file, which is pinned meanwhile if the journal is in use.
    ///
    /// - Parameter salvaging: whether the file may be damaged in what it says of how it is sealed.
    /// - Throws: `limitReached` when the pin had to be let go before `body` was done; what it returned is then dropped.
    func read<R>(
        _ part: Part, salvaging: Bool = false, _ body: (Opened) throws(JournalError) -> R
    ) throws(JournalError) -> R {
        let directory = part == .entries ? place.entries : place.blacklist
        let pin = try pin(directory)
        defer { pin?.release() }
        let path = directory + "/data.mdb"
        let finding = try find(path, at: pin?.commit)
        let search = SealSearch(part, keys, in: place.path)
        let seal = try salvaging ? search.findForSalvage(in: finding) : search.find(in: finding)
        let watch = PinWatch(pin, limits, clock.now)
        let result = try body(
            Opened(
                part: part, directory: place.path, finding: finding, path: Files.exists(path) ? path : nil,
                isInUse: owner != nil, seal: seal,
                goOn: { watch.isWithin() }))
        if let what = watch.broken {
            throw JournalError(
                .limitReached,
                "\(place.path) is in use, and reading \(part.file) as of one commit \(what): it was let go. Read the journal "
                    + "when it is less busy or at rest, or allow more.")
        }
        return result
    }

    private func pin(_ directory: String) throws(JournalError) -> SnapshotPin? {
        guard owner != nil else { return nil }
        do throws(LMDBError) {
            return try SnapshotPin(directory)
        } catch {
            // What liblmdb does not take is looked at as it lies there.
            guard [.invalid, .versionMismatch, .corrupted, .noEntry].contains(error.code) else {
                throw JournalError(error, "read", place.path)
            }
            return nil
        }
    }

    private func find(_ path: String, at commit: UInt64?) throws(JournalError) -> DataFile.Finding {
        do throws(LMDBError) {
            return try DataFile.find(path, at: commit)
        } catch {
            guard error.code == .noEntry else { throw JournalError(error, "read", place.path) }
            return .absent
        }
    }
}

/// Whether a pin may be held on.
private final class PinWatch {
    private let pin: SnapshotPin?
    private let limits: InspectionLimits
    private let start: ContinuousClock.Instant
    private var looks = 0
    /// The limit that was reached, for people.
    private(set) var broken: String?

    private static let stride = 256

    init(_ pin: SnapshotPin?, _ limits: InspectionLimits, _ start: ContinuousClock.Instant) {
        self.pin = pin
        self.limits = limits
        self.start = start
    }

    func isWithin() -> Bool {
        guard let pin, broken == nil else { return broken == nil }
        looks += 1
        guard looks % Self.stride == 0 else { return true }
        if ContinuousClock.now - start > limits.time {
            broken = "took longer than \(limits.time.components.seconds) s"
        } else {
            do throws(LMDBError) {
                let growth = try pin.growth()
                if growth > limits.growth { broken = "made it grow by \(growth) bytes" }
            } catch {
                broken = "failed (\(error.code))"
            }
        }
        return broken == nil
    }
}
