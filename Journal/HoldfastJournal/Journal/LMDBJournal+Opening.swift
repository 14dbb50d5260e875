package import Holdfast
import HoldfastLMDB

extension LMDBJournal {
    /// Checks the place of a journal, and changes nothing: whether the journal could be opened or created in `directory`.
    /// A ``JournalReader`` shows its contents and its user.
    ///
    /// - Returns: whether the journal exists; otherwise an opening would create it.
    /// - Throws: ``JournalError``, as ``init(directory:options:)`` would.
    @discardableResult
    package static func examine(_ directory: String, _ options: Options = Options()) throws(JournalError) -> Bool {
        let place = JournalDirectory(directory)
        try place.examine(create: options.create)
        if !place.isEvident { try refuseSmallFileSystem(place.nearest, used: 0, options) }
        return place.isEvident
    }

    struct Opened {
        let store: EntriesStore
        let state: JournalState
        let figures: CommitFigures
        let outcomes: OutcomeAppender
    }

    /// Makes two synced commits before anything that was read is trusted.
    ///
    /// - Parameter seal: with which the environment's rows are sealed.
    static func recover(
        _ environment: Environment, _ options: Options, _ seal: JournalSeal?, _ path: String
    ) throws(JournalError) -> Opened {
        let store = try EntriesStore(opening: environment, seal, directory: path)
        let found = try translated("read", path) { () throws(LMDBError) in
            try ReaderPool(environment).read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try StoredState(snapshot, store.tables)
            }
        }
        guard let found else { throw .closed(path) }
        var state = try found.state(in: path, newKey: options.stepping?.identityKey)
        try found.refuseContradiction(of: state, in: path)
        if state.facts.openings == 0 { state.facts.nextUID = max(state.facts.nextUID, options.uidBase + 1) }
        state.facts.openings += 1
        state.facts.closedInOrder = false
        if let forgotten = options.forgotten {
            CopyRule.skipUIDs(&state.facts)
            for index in state.lanes.indices {
                let lane = state.lanes[index]
                state.lanes[index].mark = max(lane.mark, min(lane.lastUID, forgotten.last(of: lane.key)))
            }
        }
        try store.markOpen(
            state.facts, lanes: options.forgotten == nil ? [] : state.lanes.all, limit: options.limit, directory: path)
        let outcomes = OutcomeAppender(
            after: state.log.newest, block: found.log.newestBlock,
            capacity: seal == nil ? OutcomeBlock.capacity : OutcomeBlock.sealedCapacity)
        let figures = try OutcomeMigration.run(store, &state, outcomes, directory: path) ?? found.figures
        return Opened(store: store, state: state, figures: figures, outcomes: outcomes)
    }
}
