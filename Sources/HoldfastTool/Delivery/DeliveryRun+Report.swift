internal import Holdfast
internal import HoldfastControl
internal import HoldfastService
internal import Logging

/// The report of a run.
extension DeliveryRun {
    /// Outcomes read in one piece.
    private static let page = 1000

    /// Tells outcomes to the ledger, as they come.
    func follow(_ ledger: SendLedger) async -> Event {
        while !Task.isCancelled {
            do throws(ToolError) {
                let wait: Duration = options.isQueueOnly ? .zero : .seconds(1)
                if try await !Self.tell(ledger, by: engine.desk, waitingAtMost: wait) {
                    do { try await Task.sleep(for: Self.look / 10) } catch { break }
                }
            } catch {
                // The ledger keeps it, and takes nothing more: the feed ends with it.
                if await ledger.failure == nil { logger.warning("outcomes can't be read: \(error)") }
                return .watchEnded
            }
        }
        return .watchEnded
    }

    /// - Returns: false where nothing came, or not all of it could be taken.
    private static func tell(
        _ ledger: SendLedger, by desk: any OutcomeDesk, waitingAtMost wait: Duration
    ) async throws(ToolError) -> Bool {
        let cursor = await ledger.cursor
        let listing: OutcomeListing
        do {
            listing = try await desk.outcomes(after: cursor, limit: page, of: nil, waitingAtMost: wait)
        } catch {
            throw ToolError(error, otherwise: .inputOutput)
        }
        return try await ledger.absorb(listing) && listing.end > cursor
    }

    /// Writes the rest of the report, when the engine has ended.
    func finish(_ ledger: SendLedger, _ outcome: inout Outcome) async {
        await ledger.didNotTake()
        do throws(ToolError) {
            let desk = JournalDesk(journal: journal)
            while try await Self.tell(ledger, by: desk, waitingAtMost: .zero) {}
            let lanes: [LaneKey: String]
            do throws(JournalError) {
                lanes = try LaneTroubles.of(journal.status())
            } catch {
                throw ToolError(error)
            }
            let journal = journal
            let standing = try await ledger.finish(
                isWhole: outcome.summary.inputFinished,
                fates: { (uids) throws(ToolError) in try Self.fates(of: uids, in: journal) }, troubles: lanes)
            outcome.summary.reportOpen = standing.open
            let untold = await ledger.counts.untold
            outcome.summary.untold = untold > 0 ? untold : nil
        } catch {
            outcome.error = outcome.error ?? error
        }
        outcome.summary.error = outcome.error?.message
        outcome.summary.exitCode = outcome.status.rawValue
    }

    private static func fates(of uids: [UID], in journal: any JournalService) throws(ToolError) -> [EntryFate?] {
        do throws(JournalError) {
            var fates: [EntryFate?] = []
            for uid in uids { fates.append(try journal.fate(of: uid)) }
            return fates
        } catch {
            throw ToolError(error)
        }
    }
}
