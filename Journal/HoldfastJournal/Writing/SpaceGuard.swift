import Holdfast
import HoldfastLMDB

/// Sees to it that a full journal can drain: keeps pages allocated ahead of use, and says which appends must be refused.
///
/// The arithmetic is here, apart from its doing, for the tests' sake: figures in, verdict out.
struct SpaceGuard: Sendable {
    let limit: Int
    let reserve: Int
    let mapByteCount: Int
    let pageByteCount: Int

    /// Bytes of the file that are allocated.
    var allocated: Int
    /// Pages in use after the last commit.
    var usedPages: Int
    /// The error of the last allocation or commit that the disk refused; `nil` when it did not.
    var refusal: LMDBError.Code?

    var usedByteCount: Int { usedPages * pageByteCount }
    var isTight: Bool { refusal != nil || usedByteCount >= limit }
    /// Not so on a disk that fails in other ways, which may refuse an allocation as well.
    var isDiskFull: Bool { refusal?.isWantOfRoom == true }

    /// Pages that remembered identities take at most. Otherwise nothing but their age and number would end them, and a small
    /// journal would be full of them for a day.
    var greatestIdentityPages: Int { limit / JournalOptions.identityPart / pageByteCount }

    /// How many identities stay where there are more than their part of the limit holds; `nil` where there are not.
    ///
    /// - Parameter pages: that all of them take.
    func greatestIdentities(of count: Int, on pages: Int) -> Int? {
        guard count > 0, pages > greatestIdentityPages else { return nil }
        return Int(Double(count) * Double(greatestIdentityPages) / Double(pages))
    }

    /// Steps in which the file is allocated, so that most commits need not.
    static let step = 16 << 20

    enum Admission: Hashable {
        case admitted
        case limitReached
        /// Free pages that old readers still see have used up the address space.
        case mapFull
    }

    /// Whether the limit leaves room for `bytes` of new records beside what is in use.
    func admit(_ bytes: Int, highWaterPages: Int) -> Admission {
        if usedByteCount + bytes > limit { return .limitReached }
        if highWaterPages * pageByteCount + Self.worstCase(bytes) + reserve > mapByteCount { return .mapFull }
        return .admitted
    }

    /// The length that the file needs before `bytes` of new records are written; `nil` when it is long enough.
    func neededAllocation(for bytes: Int, highWaterPages: Int) -> Int? {
        let needed = highWaterPages * pageByteCount + Self.worstCase(bytes) + reserve
        return needed > allocated ? needed : nil
    }

    /// The length that is enough where the pages that are free inside the file count: at least what was ever used.
    func leastAllocation(for bytes: Int, highWaterPages: Int, freePages: Int) -> Int {
        highWaterPages * pageByteCount + max(0, Self.worstCase(bytes) + reserve - freePages * pageByteCount)
    }

    /// Bytes that the file system must have free before the file grows to `needed`: a step beside what is missing, and the reserve,
    /// too, where there was no room for that yet.
    func roomNeeded(to needed: Int) -> Int { needed - allocated + Self.step }

    /// When the file cannot grow: whether the pages that are free inside it are enough for `bytes` and the reserve.
    func hasRoom(for bytes: Int, highWaterPages: Int, freePages: Int) -> Bool {
        max(0, allocated - highWaterPages * pageByteCount) + freePages * pageByteCount >= Self.worstCase(bytes)
            + reserve
    }

    /// The most bytes that records take with half-full pages, the tree above them and the free list.
    static func worstCase(_ bytes: Int) -> Int { 2 * bytes + (256 << 10) }
}
