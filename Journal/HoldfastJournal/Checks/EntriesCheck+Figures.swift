import Holdfast
import HoldfastLMDB

/// Figures against what they count.
extension EntriesCheck {
    private func isWhole(_ tables: String...) -> Bool { check.torn.isDisjoint(with: tables) }

    func checkFigures() {
        for (index, lane) in lanes.enumerated() {
            if let lane { checkFigures(of: lane, UInt32(index) + 1, laneTallies[index]) }
        }
        checkNames()
        checkProducers()
        checkTotals()
        let (deferred, index) = (check.report.rows["deferred"], check.report.rows["deferredIndex"])
        guard isWhole("deferred", "deferredIndex"), let deferred, let index else { return }
        if deferred != index {
            check.add(
                "it has \(index) rows for \(deferred) deferred entries", table: "deferredIndex", isContradiction: true,
                means: Self.lateAnswer)
        } else if check.isOpening, deferredSums.rows != deferredSums.index {
            check.add(
                "it names deferred entries that are not there", table: "deferredIndex", isContradiction: true,
                means: Self.lateAnswer)
        }
    }

    private static let lateAnswer = "A late answer for an entry may be lost. Salvage makes the index anew."

    private func checkFigures(of lane: LaneRecord, _ number: UInt32, _ tally: LaneTally) {
        func damage(_ what: String, isContradiction: Bool = false) {
            check.add(
                what, table: "lanes", lane: number, isContradiction: isContradiction, means: DamageMeaning.figures)
        }
        // What a record that could not be read said of its flags stays wrong when it is gone.
        func compare(_ what: String, _ says: Int, _ counted: Int, isContradiction: Bool = false) {
            guard says != counted else { return }
            damage("its record says \(says) \(what), but there are \(counted)", isContradiction: isContradiction)
        }
        if isWhole("entries") {
            compare("entries", lane.entries, tally.entries, isContradiction: true)
            if !hasUnreadRecords { compare("entries possibly sent", lane.flaggedEntries, tally.flaggedEntries) }
        }
        if isWhole("deferred") {
            compare("deferred entries", lane.deferred, tally.deferred, isContradiction: true)
            compare("scheduled entries", lane.scheduled, tally.scheduled, isContradiction: true)
            compare("entries held by paused tags", lane.held, tally.held, isContradiction: true)
            if !hasUnreadRecords {
                compare("deferred entries possibly sent", lane.flaggedDeferred, tally.flaggedDeferred)
            }
        }
        if tally.lastUID > lane.lastUID {
            damage(
                "its record says that its last UID is \(lane.lastUID), but it has \(tally.lastUID)",
                isContradiction: tally.lastSoundUID > lane.lastUID)
        }
        if lane.mark > lane.lastUID { damage("its send mark \(lane.mark) is beyond its last UID \(lane.lastUID)") }
        if let facts, lane.lastUID >= facts.nextUID {
            damage("its last UID \(lane.lastUID) was not given out yet: the next one is \(facts.nextUID)")
        }
    }

    private func checkNames() {
        let keys = lanes.compactMap { lane in lane?.key }
        let names = producers.compactMap { producer in producer?.name }
        if Set(keys).count != keys.count {
            check.add("two lanes have the same name", table: "lanes", means: "One of them is never handed out.")
        }
        if Set(names).count != names.count {
            check.add("two Producers have the same name", table: "producers", means: DamageMeaning.figures)
        }
    }

    private func checkProducers() {
        for case let producer? in producers { checkTotals(of: producer) }
        guard isWhole("entries", "deferred"), !hasUnreadRecords else { return }
        for (index, producer) in producers.enumerated() {
            guard let producer, producer.figures.unconfirmed != producerTallies[index] else { continue }
            check.add(
                "the record of Producer \(producer.name.debugDescription) says \(producer.figures.unconfirmed) "
                    + "unconfirmed entries, but there are \(producerTallies[index])",
                table: "producers", means: DamageMeaning.figures)
        }
    }

    /// One that says more of its end than of its beginning was written over by an older state of it.
    private func checkTotals(of producer: ProducerRecord) {
        let figures = producer.figures
        let totals = figures.totals
        let ended = totals.ended
        guard ended &+ UInt64(figures.unconfirmed) > totals.accepted else { return }
        check.add(
            "the record of Producer \(producer.name.debugDescription) says that it had \(totals.accepted) entries accepted, "
                + "but \(ended) have ended and \(figures.unconfirmed) are unconfirmed",
            table: "producers", means: DamageMeaning.figures)
    }

    private func checkTotals() {
        guard let facts, isWhole("entries", "deferred", "aside") else { return }
        let totals = facts.totals
        let ended = totals.ended
        let unconfirmed = laneTallies.reduce(0) { sum, tally in sum + tally.entries + tally.deferred }
        let quarantined = check.report.rows["quarantine"] ?? 0
        if totals.accepted != ended &+ UInt64(unconfirmed + asideCount + quarantined), isWhole("quarantine"),
            lanes.allSatisfy({ lane in lane != nil })
        {
            check.add(
                "of \(totals.accepted) accepted entries \(ended) have ended, but \(unconfirmed) are unconfirmed"
                    + (asideCount > 0 ? " and \(asideCount) are kept aside" : "")
                    + (quarantined > 0 ? " and \(quarantined) are in quarantine" : ""),
                table: "facts", means: DamageMeaning.figures)
        }
    }
}
