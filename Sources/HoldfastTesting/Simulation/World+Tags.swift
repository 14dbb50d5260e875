internal import Holdfast

/// Operators pause campaigns by their tags, and resume them.
extension World {
    private static let campaigns: [[UInt8]] = [Array("a".utf8), Array("b".utf8), Array("c".utf8)]

    /// The tag of a new notification; nil where no tag is ever paused.
    func campaign() -> [UInt8]? {
        swarm.rate(.pausesTags) > 0 ? otherDice.pick(Self.campaigns + [Array("none".utf8)]) : nil
    }

    func troubleTags() {
        guard swarm.rate(.pausesTags) > 0, shutdownDeadline == nil else { return }
        if strikesOther(.pausesTags, times: 0.2) {
            let tag = otherDice.pick(Self.campaigns)
            let now = wall
            change("pause", [tag]) { (pauses) throws(JournalError) in try pauses.pause(tag, reason: "", at: now) }
        }
        if !rules.pausedTags.isEmpty, otherDice.chance(0.03) {
            let tag = otherDice.pick(rules.pausedTags.sorted { $0.lexicographicallyPrecedes($1) })
            change("resume", [tag]) { (pauses) throws(JournalError) in try pauses.resume(tag) }
        }
    }

    /// In the end all go.
    ///
    /// - Returns: whether any was paused.
    func resumeTags() -> Bool {
        guard swarm.rate(.pausesTags) > 0, shutdownDeadline == nil, core != nil else { return false }
        let paused = readTags()
        guard !paused.isEmpty else { return false }
        change("resume", paused) { (pauses) throws(JournalError) in pauses.resumeAll() }
        return true
    }

    private func change(
        _ what: String, _ tags: [[UInt8]], _ body: (inout TagPauses) throws(JournalError) -> Void
    ) {
        guard let core else { return }
        note("\(what) tags \(tags.map { TagPause.name(of: $0) })")
        // It may be on disk even if it fails.
        rules.pausedTags.subtract(tags)
        rules.tagChanges += 1
        let number = rules.tagChanges
        defer { storage.changed() }
        do throws(JournalError) {
            // Learnt as it is changed: a read of its own may fail.
            var changed: [TagPause] = []
            try core.changePausedTags { (pauses) throws(JournalError) in
                try body(&pauses)
                changed = pauses.all
                learn(changed)
            }
            let tags = Set(changed.map(\.tag))
            core.heedPausedTags { [weak self, life] in
                guard let self, life == self.life, number == rules.tagChanges else { return }
                note("\(what)d tags are heeded")
                rules.pausedTags = tags
            }
        } catch { note("not done: \(error.code)") }
        // What is durable on return has let others' commits happen.
        reconcile()
    }

    /// A life heeds from its beginning what the journal has of paused tags.
    func readPausedTags() { rules.pausedTags = swarm.rate(.pausesTags) > 0 ? Set(readTags()) : [] }

    private func readTags() -> [[UInt8]] {
        do throws(JournalError) {
            let pauses = try journal.pausedTags().all
            learn(pauses)
            return pauses.map(\.tag)
        } catch {
            note("the paused tags can't be read: \(error.code)")
            return []
        }
    }

    private func learn(_ pauses: [TagPause]) { for pause in pauses { rules.tagPlaces[pause.place] = pause.tag } }

    // MARK: What must hold

    func checkTag(_ entry: LedgerEntry) {
        guard rules.pausedTags.contains(entry.notification.tag) else { return }
        violate(6, "entry \(entry.uid) was handed out although its tag is paused")
    }

    /// An entry waits in no other place than that of a pause of its own tag.
    func checkTagPlace(_ entry: LedgerEntry, _ due: WallTime) {
        guard rules.tagPlaces[due] != entry.notification.tag else { return }
        violate(6, "entry \(entry.uid) is put into a place that is not its tag's")
    }
}
