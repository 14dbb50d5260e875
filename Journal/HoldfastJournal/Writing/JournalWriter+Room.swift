import Holdfast
import HoldfastLMDB

/// Allocates and refuses as ``SpaceGuard`` decides.
extension JournalWriter {
    /// Pages of the file ever used. Asking fails only for an environment that is not open.
    func highWaterPages() -> Int {
        do throws(LMDBError) {
            return try store.environment.info().highWaterPages
        } catch {
            preconditionFailure("the journal's environment is not open: \(error)")
        }
    }

    /// - Parameter entries: that would be unconfirmed with these.
    func refusal(of bytes: Int, entries: Int, highWaterPages: Int) -> JournalError? {
        switch space.admit(bytes, highWaterPages: highWaterPages) {
        case .admitted: break
        case .limitReached: isAsideInTheWay = true
        case .mapFull: isLogInTheWay = true
        }
        return limitation(of: bytes, entries: entries, highWaterPages: highWaterPages)
    }

    private func limitation(of bytes: Int, entries: Int, highWaterPages: Int) -> JournalError? {
        if let limit = entryLimit, entries > limit {
            return JournalError(
                .limitReached,
                "\(directory) has reached its limit of \(limit) unconfirmed entries: appends are refused until it has "
                    + "drained")
        }
        switch space.admit(bytes, highWaterPages: highWaterPages) {
        case .admitted: return nil
        case .limitReached:
            let figures = shared.withLock { shared in shared.figures }
            let kept = KeptRoom(figures, pageByteCount: space.pageByteCount, limit: space.limit)
            return JournalError(
                .limitReached,
                "\(directory) has reached its limit of \(space.limit) bytes (\(space.usedByteCount) in use\(kept.words)): "
                    + "appends are refused until it has drained", advice: kept.advice)
        case .mapFull:
            return JournalError(
                .limitReached,
                "\(directory) is full of pages that a slow reader still sees: appends are refused until it has gone")
        }
    }

    /// The room that the look tests for: one notification of the greatest size.
    private static let usualAppend = 8 << 10

    /// Looks whether an append would be refused for want of room. Where nobody appends, nobody else would notice that a disk
    /// has filled up, or has room again.
    func lookAtRoom() {
        let highWaterPages = highWaterPages()
        // Where there is room for a small one, what was refused may have none all the same.
        let bytes = max(Self.usualAppend, refusedRoom.bytes)
        let entries = state.unconfirmed + max(1, refusedRoom.entries)
        let refusal =
            limitation(of: bytes, entries: entries, highWaterPages: highWaterPages)
            ?? allocate(bytes, highWaterPages: highWaterPages)
        if refusal == nil { refusedRoom = RefusedRoom() }
        tellRoom(refusal)
    }

    /// There was no room for appends of this size, and will be looked for again.
    func refused(_ bytes: Int, entries: Int) {
        refusedRoom.refused(bytes, entries: entries, limit: space.limit, entryLimit: entryLimit)
    }

    /// - Parameter refusal: why an append is refused; nil when it is not.
    func tellRoom(_ refusal: JournalError?) {
        guard refusal?.message != toldRoom?.message else { return }
        toldRoom = refusal
        shared.withLock { shared in shared.wantOfRoom = refusal }
    }

    /// Allocates ahead of `bytes` of appends.
    ///
    /// - Returns: why the appends must be refused.
    func allocate(_ bytes: Int, highWaterPages: Int) -> JournalError? {
        guard let needed = space.neededAllocation(for: bytes, highWaterPages: highWaterPages) else {
            space.refusal = nil
            return nil
        }
        var wanted = 0
        do throws(LMDBError) {
            wanted = try grow(to: needed)
            if wanted == 0 {
                space.refusal = nil
                return nil
            }
            space.refusal = .noSpace
            if let free = freePages() {
                if space.hasRoom(for: bytes, highWaterPages: highWaterPages, freePages: free) { return nil }
                // What is free inside the file need not be allocated again: a small file system may never have so much free.
                let least = space.leastAllocation(for: bytes, highWaterPages: highWaterPages, freePages: free)
                wanted = try grow(to: least)
                if wanted == 0 { return nil }
            }
        } catch {
            space.refusal = error.code
            if let free = freePages(), space.hasRoom(for: bytes, highWaterPages: highWaterPages, freePages: free) {
                return nil
            }
            isLogInTheWay = true
            return JournalError(error, "append to", directory)
        }
        isLogInTheWay = true
        return JournalError(
            .diskFull,
            "cannot append to \(directory): No space left on device: the journal takes more once \((wanted >> 20) + 1) MiB are "
                + "free on its file system")
    }

    /// Allocates the file up to `needed` and a step at most beyond, if the file system has that free.
    ///
    /// - Returns: the bytes that must be free for it; 0 when it is done.
    private func grow(to needed: Int) throws(LMDBError) -> Int {
        let room = space.roomNeeded(to: needed)
        guard try Files.availableBytes(at: directory) > room else { return room }
        let target = (needed / SpaceGuard.step + 1) * SpaceGuard.step
        try store.environment.allocateData(from: space.allocated, to: target)
        space.allocated = target
        return 0
    }

    /// Free pages of the file that the next commit may use; nil when that cannot be read, which counts as none.
    private func freePages() -> Int? {
        do throws(LMDBError) {
            let others = try store.environment.readers()
            return try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) -> Int in
                try snapshot.freePages(seenBy: others)
            }
        } catch {
            return nil
        }
    }

    /// Whether the file system has room for another step, and takes a page of this file (quotas, limits on files).
    var hasDiskRoom: Bool {
        do throws(LMDBError) {
            try store.environment.writeUnusedPage()
            return try Files.availableBytes(at: directory) >= SpaceGuard.step
        } catch {
            return CommitFailure(error, isDiskFull: false, isPanicked: false) != .noRoom
        }
    }
}
