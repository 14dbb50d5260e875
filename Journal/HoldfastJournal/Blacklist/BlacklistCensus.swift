import Foundation
import Holdfast
import HoldfastLMDB

/// Looks a large blacklist through, once, when it has been opened: each row's place, order and checksum, and whether there
/// are as many as were counted. A small one was looked through before it was opened.
///
/// Reads the pages of one commit without liblmdb, which a damaged page may kill, on a thread of its own. The commit is
/// pinned meanwhile; where that takes longer or more room than the limits allow, or the journal closes, it ends and nothing
/// was found.
final class BlacklistCensus: @unchecked Sendable {  // everything mutable is touched only while `condition` is held
    private let place: JournalDirectory
    private let keys: JournalKeys?
    private let isDue: Bool
    private let condition = NSCondition()
    private var damage: Int
    private var observer: (@Sendable (Int) -> Void)?
    private var isRunning = false
    private var isClosed = false

    /// - Parameters:
    ///   - keys: with which it may be sealed.
    ///   - damage: the number of faults found before; `nil` when it was not checked yet.
    init(_ place: JournalDirectory, _ keys: JournalKeys?, damage: Int?) {
        self.place = place
        self.keys = keys
        isDue = damage == nil
        self.damage = damage ?? 0
    }

    var damageCount: Int { condition.withLock { damage } }

    func observe(_ observer: @escaping @Sendable (Int) -> Void) {
        let found = condition.withLock {
            self.observer = observer
            return damage
        }
        if found > 0 { observer(found) }
    }

    func start() {
        guard isDue else { return }
        let begins = condition.withLock {
            defer { isRunning = !isClosed }
            return !isClosed
        }
        guard begins else { return }
        let thread = Thread { [self] in finish(look()) }
        thread.name = "holdfast-census"
        thread.qualityOfService = .background
        thread.start()
    }

    /// Ends a running check, and returns when it has closed the file.
    func close() {
        condition.withLock {
            isClosed = true
            while isRunning { condition.wait() }
        }
    }

    private func look() -> Int {
        let image = JournalImage(inUse: place, InspectionLimits(), keys)
        do throws(JournalError) {
            return try image.read(.blacklist) { (opened) throws(JournalError) -> Int in
                let opened = JournalImage.Opened(
                    part: opened.part, directory: opened.directory, finding: opened.finding, path: opened.path,
                    isInUse: true, seal: opened.seal,
                    goOn: { [self] in opened.goOn() && !condition.withLock { isClosed } })
                let check = FileCheck(opened, VerificationReport(directory: "", owner: nil)) { _ in }
                check.run()
                // Cut short, it has seen fewer rows than there are, which is no damage.
                return opened.goOn() ? check.report.tokenDamage : 0
            }
        } catch {
            // A limit was reached. Look-ups report rows that cannot be read at all.
            return 0
        }
    }

    private func finish(_ found: Int) {
        let observer = condition.withLock {
            damage = found
            return isClosed ? nil : self.observer
        }
        if found > 0 { observer?(found) }
        condition.withLock {
            isRunning = false
            condition.broadcast()
        }
    }
}
