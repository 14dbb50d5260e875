import Holdfast
import Trials

/// What came of a trial, and what of it breaks a promise.
struct TrialResult: TableTrialResult {
    let trial: Trial
    let record: ServiceRecord
    let tally: OutcomeTally.Contents
    let status: EngineStatus
    /// What the submitter was told beside a receipt.
    let refusals: [String]
    let time: Duration

    var count: Int { trial.options.count }

    /// Good ones that the service never took, and of which nobody was told that this may be so.
    var lost: Int {
        record.taken.indices.count { index in
            !Sample.isBad(index) && record.taken[index] == 0 && tally.outcomes[index] != .unknown
        }
    }

    var duplicates: Int { record.duplicates }

    /// The most requests that the service can have left open. Beside the route's two connections, each was made in the place of one
    /// that had ended, by the fault, or on a busy machine because a PING was answered too late.
    var leftOpen: Int { max(record.faults, record.connections - 2) * trial.fault.leavesOpen.most }

    /// In words; empty when every promise was kept.
    var breaches: [String] {
        var breaches: [String] = []
        if !refusals.isEmpty { breaches.append("the submitter was told \(refusals.count) times: \(refusals[0])") }
        if tally.count(.nothing) > 0 { breaches.append("\(tally.count(.nothing)) have no outcome") }
        if tally.twice > 0 { breaches.append("\(tally.twice) outcomes too many") }
        if tally.wrongCount > 0 { breaches.append("\(tally.wrongCount) have a wrong outcome: \(tally.wrong)") }
        if lost > 0 { breaches.append("\(lost) lost") }
        let badTaken = record.taken.indices.count { Sample.isBad($0) && record.taken[$0] > 0 }
        if badTaken > 0 { breaches.append("the service took \(badTaken) bad ones: the trial is no good") }
        breaches += openBreaches
        if record.descents > descentBound {
            breaches.append("\(record.descents) times out of order, for \(descentBound) at most")
        }
        if let most = trial.fault.greatestFaults, record.faults > most {
            breaches.append("a service that refuses was asked \(record.faults) times, for \(most) at most")
        }
        if record.faults == 0, trial.fault.name != "none" { breaches.append("the fault never happened") }
        return breaches
    }

    /// What may come only of what the service left open.
    private var openBreaches: [String] {
        var breaches: [String] = []
        let unknown = tally.count(.unknown)
        switch trial.guarantee {
        case .atLeastOnce:
            if unknown > 0 { breaches.append("\(unknown) ended as unknown, which go again at least once") }
            if duplicates > leftOpen {
                breaches.append("\(duplicates) duplicates, and no more than \(leftOpen) were left open")
            }
        case .atMostOnce:
            if duplicates > 0 { breaches.append("\(duplicates) duplicates, at most once") }
            if unknown > leftOpen { breaches.append("\(unknown) unknown, and no more than \(leftOpen) were left open") }
        }
        return breaches
    }

    /// What goes again comes behind later ones, once each; so does what a connection had when it ended, for each of the others.
    private var descentBound: Int {
        status.deferrals + status.requeued + status.possibleDuplicates + 2 * record.connections
    }

    static let head = """
        | fault | served by | guarantee | faults | connections | confirmed | rejected | unknown | lost | duplicates | left open, at most | out of order | s |
        |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        """

    var row: String {
        let seconds = Double(Int(time / .milliseconds(100))) / 10
        let cells = [
            trial.fault.words, trial.fault.server, trial.guarantee.words, "\(record.faults)", "\(record.connections)",
            "\(tally.count(.confirmed))", "\(tally.count(.rejected))", "\(tally.count(.unknown))", "\(lost)",
            "\(duplicates)", "\(leftOpen)", "\(record.descents)", "\(seconds)",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }
}
