import Holdfast
import Trials

/// What came of a trial, and what of it breaks a promise.
struct TrialResult: TableTrialResult {
    let trial: Trial
    let record: ServiceRecord.Contents
    let tally: OutcomeTally.Contents
    let status: EngineStatus
    /// How often the fault happened.
    let faults: Int
    /// How many were made.
    let connections: Int
    let time: Duration

    var notifications: Int { trial.options.notifications }

    /// Good ones that the service never took.
    var lost: Int { record.lost }

    /// How often a good one was taken after its first time.
    var duplicates: Int { record.taken.reduce(0) { $0 + max(0, Int($1) - 1) } }

    /// What the service left open, times what one connection may have unconfirmed.
    var duplicateBound: Int { trial.fault.leavesOpen ? faults * trial.window : 0 }

    /// Without it, nothing was tried.
    private var hasHappened: Bool {
        let isCertain = ["none", "delayed", "split", "split-tls", "shutdown", "slow", "barrier-zero"]
        return faults > 0 || isCertain.contains(trial.fault.name)
    }

    /// In words; empty when every promise was kept.
    var breaches: [String] {
        var breaches: [String] = []
        let unmet = tally.outcomes.count { $0 == 0 }
        let twice = tally.outcomes.count { $0 > 1 }
        if unmet > 0 { breaches.append("\(unmet) have no outcome") }
        if twice > 0 { breaches.append("\(twice) have more than one outcome") }
        breaches += trial.isFooled ? fooledBreaches : honestBreaches
        let taken = record.taken.indices.count { Sample.isBad($0) && record.taken[$0] > 0 }
        if taken > 0 { breaches.append("the mock took \(taken) bad ones") }
        if duplicates > duplicateBound {
            breaches.append("\(duplicates) duplicates, and no more than \(duplicateBound) are left open")
        }
        if record.descents > descentBound {
            breaches.append("\(record.descents) times out of order, for \(descentBound) at most")
        }
        // A few thousand fit into what one connection takes.
        if trial.fault.isSideBySide, trial.connections > 1, notifications >= 50_000, record.switches < 3 * connections {
            breaches.append("\(connections) connections, and only \(record.switches) times from one to another")
        }
        if !hasHappened { breaches.append("the fault never happened") }
        return breaches
    }

    private var badCount: Int { (0..<notifications).count(where: Sample.isBad) }

    private var honestBreaches: [String] {
        var breaches: [String] = []
        if tally.wrongCount > 0 { breaches.append("\(tally.wrongCount) have a wrong outcome: \(tally.wrong)") }
        if tally.rejected != badCount { breaches.append("\(tally.rejected) rejected, not \(badCount)") }
        if lost > 0 { breaches.append("\(lost) confirmed and never taken") }
        // An error that names what was confirmed says just that, rightly or not.
        if status.wronglyConfirmed > 0, trial.usesBarrier || trial.fault.prelude == 0 {
            breaches.append("\(status.wronglyConfirmed) wrongly confirmed")
        }
        return breaches
    }

    /// What silence was mistaken about comes back when the error comes, and arrives.
    private var fooledBreaches: [String] {
        status.recalled == 0 ? honestBreaches + ["silence was not fooled: the trial shows nothing"] : honestBreaches
    }

    /// Each end of a connection that sends something again may bring earlier ones behind later ones once on each of the
    /// others, and so does each that was put off.
    private var descentBound: Int {
        (record.errors + faults) * trial.connections + status.deferrals
    }

    static let head = """
        | fault | confirm | connections | made | confirmed | rejected | lost | duplicates | at most | switches | out of order | s |
        |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        """

    var row: String {
        let seconds = Double(Int(time / .milliseconds(100))) / 10
        let note = trial.isFooled ? " (fooled)" : ""
        let cells = [
            trial.fault.what, trial.usesBarrier ? "barrier" : "quiet", "\(trial.connections)", "\(connections)",
            "\(tally.confirmed)", "\(tally.rejected)", "\(lost)\(note)", "\(duplicates)", "\(duplicateBound)",
            "\(record.switches)", "\(record.descents)", "\(seconds)",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }
}
