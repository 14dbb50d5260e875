internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// The summary of `send` and `recover`, for people and as JSON. The names of its properties are those of the JSON.
struct DeliverySummary: Encodable, Equatable {
    /// One of several routes, as it stands at the end.
    struct Route: Encodable, Equatable {
        var route: String
        var endpoint: String
        /// Of its lanes, still unconfirmed.
        var left: Int
        /// Why a lane of it stands still, or nothing could be sent.
        var trouble: String?
    }

    /// The process that uses the journal, which took the input and sends it; nil where this one does.
    var owner: String?
    /// The input; nil for `recover`, and where flags gave the notifications.
    var file: String?
    /// Lines read by this run; with `--resume`, those after the ones taken before.
    var lines = 0
    /// The line that `--resume` went on with.
    var resumedAtLine: Int?
    /// Whether the input was taken to its end.
    var inputFinished = true
    /// The file that has a line for each line of the input; nil for none.
    var report: String?
    /// Its lines that have no outcome yet. Nil without a report, or where it could not be written.
    var reportOpen: Int?
    /// Whether nothing was to be sent: then it is no failure that everything is left.
    var queueOnly = false
    /// Notifications journaled by this run.
    var accepted = 0
    /// Notifications that were taken before, under the same apns-id, and have their outcome.
    var repeated = 0
    /// Lines that are not what Docs/Reference/Tool.md describes.
    var malformed = 0
    /// Notifications that were refused before anything was journaled, by reason.
    var refused: [String: Int] = [:]
    /// Notifications that were in the journal before this run.
    var leftFromBefore = 0
    /// The outcome of each notification that flags gave; `nil` without such flags.
    var notifications: [NotificationReport]?
    var confirmed = 0
    /// Of them, by the service's own word: for the notification, or for one behind it.
    var confirmedByAnswer = 0
    /// Of them, by the answer to a barrier behind them.
    var confirmedByBarrier = 0
    /// Of them, by nothing but silence.
    var confirmedByQuiet = 0
    /// Of those, denied by an error that came too late: not taken, and not to be sent again.
    var wronglyConfirmed = 0
    /// By reason.
    var rejected: [String: Int] = [:]
    var expired = 0
    var unknown = 0
    /// Taken back by an operator while this ran.
    var withdrawn = 0
    /// Whose place a newer one took. Nil for none.
    var superseded: Int?
    /// Ended, and nobody knows how any more. Nil for none.
    var untold: Int?
    /// Left to the process that uses the journal until their time. Nil for none, and where this process uses it.
    var scheduled: Int?
    /// Still unconfirmed, in the journal. Nil when the journal can't say.
    var left: Int? = 0
    /// The topics that all of them wait for, but those that no route serves. Nil when something else is waited for.
    var topicsSetAside: [TopicForm]?
    /// Of them, those in lanes that no route serves: they were not touched. Nil where there are none.
    var unserved: [UnservedLane]?
    /// Entries in quarantine, since their records can't be read. `nil` for none.
    var quarantined: Int?
    /// `nil` if there is only one.
    var routes: [Route]?
    var possibleDuplicates = 0
    /// Tokens that the feedback service named; nil when none was asked.
    var feedback: Int?
    var elapsedSeconds = 0.0
    /// Answers of the service for each second.
    var perSecond = 0
    /// Whether a signal ended it.
    var interrupted = false
    /// The error that ended the run early.
    var error: String?
    var exitCode: Int32 = 0

    var refusedCount: Int { refused.values.reduce(0, +) }
    var rejectedCount: Int { rejected.values.reduce(0, +) }

    /// The exit code; `error` is the cause if the run ended early. If flags gave the notifications, the code is about these,
    /// and not about other entries of the journal.
    func status(error: ToolError?) -> ToolStatus {
        var status = error?.status ?? .ok
        if !inputFinished { status = max(status, .entriesLeft) }
        if malformed > 0 || refusedCount > 0 { status = max(status, .badInput) }
        if wronglyConfirmed > 0 { status = max(status, .notAllConfirmed) }
        if quarantined != nil { status = max(status, .unreadable) }
        if let notifications { return notifications.map { $0.status(isQueueOnly: queueOnly) }.reduce(status, max) }
        if left ?? 0 > 0, !queueOnly { status = max(status, .entriesLeft) }
        if rejectedCount > 0 || expired > 0 || unknown > 0 || withdrawn > 0 || untold != nil {
            status = max(status, .notAllConfirmed)
        }
        return status
    }

    /// For people: a few lines.
    func text() -> String {
        guard let notifications else { return table() }
        let lines = NotificationReport.text(notifications)
        // Of these alone the lines say everything, but not that silence is no proof, and that one may have gone twice.
        let isMoreToSay =
            leftFromBefore > 0 || left != 0 || quarantined != nil || confirmedByQuiet > 0 || wronglyConfirmed > 0
            || possibleDuplicates > 0
        return isMoreToSay ? lines + "\n" + table() : lines
    }

    private func table() -> String {
        var rows: [(String, String, String)] = []
        if file != nil {
            rows.append(("lines", Format.count(lines), resumedAtLine.map { "from line \(Format.count($0)) on" } ?? ""))
        }
        if file != nil || notifications != nil {
            rows.append(("accepted", Format.count(accepted), "journaled before they were sent"))
            if repeated > 0 { rows.append(("repeated", Format.count(repeated), "taken before; not sent again")) }
            if malformed > 0 { rows.append(("malformed", Format.count(malformed), "not taken")) }
            if refusedCount > 0 { rows.append(("refused", Format.count(refusedCount), Self.list(refused))) }
        }
        if leftFromBefore > 0 || (file == nil && notifications == nil) {
            rows.append(("left before", Format.count(leftFromBefore), "found in the journal"))
        }
        rows.append(("confirmed", Format.count(confirmed), "taken by the push service"))
        rows += confirmationRows
        if rejectedCount > 0 { rows.append(("rejected", Format.count(rejectedCount), Self.list(rejected))) }
        if expired > 0 { rows.append(("expired", Format.count(expired), "over before they could be sent")) }
        if unknown > 0 { rows.append(("unknown", Format.count(unknown), "perhaps taken, and not to be sent again")) }
        if let superseded { rows.append(("superseded", Format.count(superseded), "a newer one took their place")) }
        if withdrawn > 0 { rows.append(("withdrawn", Format.count(withdrawn), "taken back, and never sent")) }
        if let untold { rows.append(("untold", Format.count(untold), "ended long ago, or taken by another run")) }
        if let scheduled { rows.append(("scheduled", Format.count(scheduled), "whoever uses the journal sends them")) }
        switch left {
        case nil: rows.append(("left", "?", "safe in the journal, which failed: " + Self.remedy))
        case 0?: break
        case let left?: rows.append(("left", Format.count(left), "safe in the journal" + leftNote))
        }
        if let quarantined {
            rows.append(
                (
                    "quarantined", Format.count(quarantined),
                    "cannot be read, and have no outcome: `holdfast journal quarantine list`"
                ))
        }
        for route in routes ?? [] where route.left > 0 {
            rows.append(("  on \(route.route)", Format.count(route.left), route.trouble ?? route.endpoint))
        }
        for lane in unserved ?? [] {
            rows.append(("  in \(lane.lane)", Format.count(lane.unconfirmed), "no route serves this lane"))
        }
        if possibleDuplicates > 0 {
            rows.append(("possible duplicates", Format.count(possibleDuplicates), "sent again with the same apns-id"))
        }
        if let feedback { rows.append(("feedback", Format.count(feedback), "tokens named by the feedback service")) }
        rows += reportRows
        let answers = perSecond > 0 ? "\(Format.count(perSecond)) a second" : ""
        rows.append(("elapsed", Format.duration(.milliseconds(Int(elapsedSeconds * 1000))), answers))
        return ([Self.table(rows)] + topicsAdvice).joined(separator: "\n")
    }

    private var reportRows: [(String, String, String)] {
        guard let report else { return [] }
        guard let reportOpen else { return [("report", "-", "\(report) could not be written to its end")] }
        let isWhole = reportOpen == 0 && inputFinished
        let open = reportOpen > 0 ? "\(Format.count(reportOpen)) without an outcome yet" : "not the whole input yet"
        return [("report", isWhole ? "whole" : "open", isWhole ? report : "\(report): \(open); --resume completes it")]
    }

    private static let remedy = "`holdfast recover` delivers them"

    private var leftNote: String {
        if let owner { return ": \(owner) goes on with them" }
        guard let topicsSetAside else { return ": " + Self.remedy }
        let names = topicsSetAside.prefix(3).map { $0.topic.printable(maximumLength: 256) }.joined(separator: ", ")
        let more = topicsSetAside.count > 3 ? " and \(Format.count(topicsSetAside.count - 3)) more" : ""
        return ", and waiting for what is set aside: topic \(names)\(more)"
    }

    /// `recover` alone would end as this has.
    private var topicsAdvice: [String] {
        guard left ?? 0 > 0, topicsSetAside != nil else { return [] }
        return EntryExplanation.wrapped(
            "What to do: mend the endpoint, the topic, the key or the token, then `holdfast recover` (with `--endpoint` "
                + "and the like, where these change). As it is, nothing of the topic is taken. `holdfast journal drop "
                + "UID` takes back what is not to be sent; `holdfast journal list` has the UIDs.",
            width: TerminalSize.paragraph
        ).map { "  \($0)" }
    }

    /// The grounds of the confirmations, unless each has an answer of its own.
    private var confirmationRows: [(String, String, String)] {
        guard confirmedByBarrier > 0 || confirmedByQuiet > 0 || wronglyConfirmed > 0 else { return [] }
        return [
            ("  by an answer", confirmedByAnswer, "an error behind them, or their own answer: proof"),
            ("  by a barrier", confirmedByBarrier, "its answer: proof"),
            ("  by silence", confirmedByQuiet, "no error came in the quiet period: a guess"),
            ("  denied later", wronglyConfirmed, "guessed wrong: an error came too late, and they were not taken"),
        ].filter { $0.1 > 0 }.map { ($0.0, Format.count($0.1), $0.2) }
    }

    private static func list(_ reasons: [String: Int]) -> String {
        reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \(Format.count($0.value))" }.joined(separator: ", ")
    }

    static func table(_ rows: [(String, String, String)]) -> String {
        let name = rows.map(\.0.count).max() ?? 0
        let value = rows.map(\.1.count).max() ?? 0
        return rows.map { row in
            let padding = String(repeating: " ", count: name - row.0.count + 2 + value - row.1.count)
            return "  \(row.0)\(padding)\(row.1)" + (row.2.isEmpty ? "" : "  \(row.2)")
        }.joined(separator: "\n")
    }
}
