package import Holdfast
package import HoldfastJournal

extension JournalReport {
    /// - Parameters:
    ///   - route: the one that the journal remembers.
    ///   - atRest: what is wrong by the journal itself, where no process says.
    ///   - live: what the process says that uses the journal.
    package init(
        _ reader: JournalReader, route: RouteSettings?, atRest: [HealthCondition] = [], _ live: DeskStatus? = nil
    ) throws {
        let status = try reader.status()
        let details = Details(
            owner: reader.owner, route: route,
            producers: try reader.producers(), possiblySent: try reader.possiblySent(),
            oldest: try Self.oldest(status.lanes, reader),
            topicsAtRest: reader.owner == nil ? try TopicsAtRest.read(status.lanes, reader) : [:], live: live,
            conditions: live?.conditions ?? atRest, pausedTags: try reader.pausedTags(),
            history: try reader.history())
        self.init(status, directory: reader.directory, details)
        sealedWith = reader.sealedWith.isEmpty ? nil : reader.sealedWith
        halfSealed = reader.sealing.remedy(of: reader.directory).map { "\(reader.sealing.words). Next: \($0)" }
    }

    /// When the oldest entry of each lane was accepted, deferred and scheduled ones left out, as of a running engine.
    package static func oldest(
        _ lanes: [JournalStatus.Lane], _ reader: JournalReader
    ) throws(JournalError) -> [LaneKey: WallTime] {
        var oldest: [LaneKey: WallTime] = [:]
        for lane in lanes where lane.unconfirmed > 0 {
            var filter = EntryFilter()
            filter.lanes = LanePattern(lane.key.description).map { [$0] } ?? []
            filter.states = [.neverSent, .possiblySent]
            do throws(JournalError) {
                oldest[lane.key] = try reader.entries(matching: filter, limit: 1).first?.acceptedAt
            } catch {
                // The figures are those of a damaged journal too; its listing tells of the damage.
                guard error.code == .damaged else { throw error }
            }
        }
        return oldest
    }
}
