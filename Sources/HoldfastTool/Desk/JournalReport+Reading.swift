internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

extension JournalReport {
    /// - Parameter live: what the process says that uses the journal.
    init(_ reader: JournalReader, _ live: DeskStatus? = nil) throws {
        let status = try reader.status()
        let note = try reader.note(RouteSettings.noteName)
        let details = Details(
            owner: reader.owner, route: try RouteSettings.decode(note, journal: reader.directory),
            producers: try reader.producers(), possiblySent: try reader.possiblySent(),
            oldest: try Self.oldest(status.lanes, reader),
            topicsAtRest: reader.owner == nil ? try TopicsAtRest.read(status.lanes, reader) : [:], live: live,
            conditions: try live?.conditions ?? HealthReport.atRest(reader), pausedTags: try reader.pausedTags(),
            history: try reader.history())
        self.init(status, directory: reader.directory, details)
    }

    static func oldest(
        _ lanes: [JournalStatus.Lane], _ reader: JournalReader
    ) throws(JournalError) -> [LaneKey: WallTime] {
        var oldest: [LaneKey: WallTime] = [:]
        for lane in lanes where lane.unconfirmed > 0 {
            var filter = EntryFilter()
            filter.lanes = LanePattern(lane.key.description).map { [$0] } ?? []
            filter.states.remove(.rejected)
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
