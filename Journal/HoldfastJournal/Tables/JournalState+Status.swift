import Holdfast

extension JournalState {
    var producerStatuses: [ProducerStatus] {
        producers.enumerated().map { index, figures in
            ProducerStatus(
                id: ProducerID(rawValue: UInt16(index) + 1), name: producerNames[index],
                unconfirmed: figures.unconfirmed, totals: figures.totals)
        }
    }
}

extension JournalStatus {
    init(_ state: JournalState, _ figures: CommitFigures, pageByteCount: Int, limit: Int) {
        self.init(
            rejections: figures.rejections, nextUID: UID(state.facts.nextUID), totals: state.facts.totals,
            usedBytes: figures.usedPages * pageByteCount, limitBytes: limit,
            outcomes: state.log.figures(bytes: 0).count,
            identities: figures.identities, aside: figures.aside, quarantined: figures.quarantined)
        for (index, lane) in state.lanes.all.enumerated() {
            unconfirmed += lane.entries + lane.deferred
            deferred += lane.deferred - lane.scheduled
            scheduled += lane.scheduled
            lanes.append(
                Lane(
                    key: lane.key, id: LaneID(rawValue: UInt32(index) + 1), unconfirmed: lane.entries + lane.deferred,
                    deferred: lane.deferred - lane.scheduled, scheduled: lane.scheduled, mark: UID(lane.mark),
                    state: lane.state, heldByTag: lane.held))
        }
    }
}
