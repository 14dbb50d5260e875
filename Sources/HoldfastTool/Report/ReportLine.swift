internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// A line of a report, for one notification: the line that it comes from, and what became of it.
enum ReportLine {
    /// How it ended, as `outcomes list --json --reveal` says it.
    static func ended(_ outcome: Outcome, line: Int) throws(ToolError) -> [UInt8] {
        var form = OutcomeForm(outcome)
        form.payload = nil
        return try bytes(form, line: line)
    }

    /// What has no outcome, or not yet.
    struct Other: Encodable {
        var uid: UInt64?
        var id: String?
        var recipient: RecipientForm?
        var outcome: String
        var repeated: Bool?
        var reason: String?
        var detail: String?
        var dueAt: ExactTime?

        private enum CodingKeys: String, CodingKey {
            case uid, outcome, repeated, reason, detail, dueAt
            case id = "apns-id"
        }

        func encode(to encoder: any Encoder) throws {
            try recipient?.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(uid, forKey: .uid)
            try container.encodeIfPresent(id, forKey: .id)
            try container.encode(outcome, forKey: .outcome)
            try container.encodeIfPresent(repeated, forKey: .repeated)
            try container.encodeIfPresent(reason, forKey: .reason)
            try container.encodeIfPresent(detail, forKey: .detail)
            try container.encodeIfPresent(dueAt, forKey: .dueAt)
        }
    }

    static func malformed(_ fault: LineFault, line: Int) throws(ToolError) -> [UInt8] {
        try bytes(Other(outcome: "malformed", reason: fault.reason?.rawValue, detail: fault.detail), line: line)
    }

    static func refused(
        _ recipient: Recipient, _ id: NotificationID?, _ reason: String?, _ detail: String, line: Int
    ) throws(ToolError) -> [UInt8] {
        try bytes(
            Other(
                id: id?.description, recipient: RecipientForm(recipient), outcome: OutcomeWord.refused.rawValue,
                reason: reason, detail: detail), line: line)
    }

    /// What was taken, or refused, and nobody can tell which.
    static func untold(_ notification: PushNotification, _ detail: String, line: Int) throws(ToolError) -> [UInt8] {
        try bytes(
            Other(recipient: RecipientForm(notification.recipient), outcome: "untold", detail: detail), line: line)
    }

    static func repeated(
        _ uid: UID, _ end: TerminalOutcome, _ notification: PushNotification, line: Int
    ) throws(ToolError) -> [UInt8] {
        let end = EndForm(end)
        return try bytes(
            Other(
                uid: uid.rawValue, id: notification.id?.description, recipient: RecipientForm(notification.recipient),
                outcome: end.outcome.rawValue, repeated: true, reason: end.reason), line: line)
    }

    /// Where it stands when the run ends.
    ///
    /// - Parameter trouble: why its lane stands still, if it does.
    static func standing(
        _ record: ReportRecord, _ fate: EntryFate?, trouble: (LaneKey) -> String?
    ) throws(ToolError) -> [UInt8] {
        var other = Other(uid: record.uid.rawValue, id: record.id.description, outcome: OutcomeWord.settled.rawValue)
        switch fate {
        case .unconfirmed(let lane, _, _)?:
            other.outcome = OutcomeWord.unconfirmed.rawValue
            other.detail = trouble(lane).map { "its lane stands still: \($0)" }
        case .deferred(let lane, let due, _, let reason)?:
            (other.outcome, other.reason) = (OutcomeWord.deferred.rawValue, reason.rawValue)
            other.dueAt = due.isPlaceOfTopic ? nil : ExactTime(due)
            other.detail = due.isPlaceOfTopic ? "its topic is set aside" : trouble(lane)
        case .scheduled(_, let time, _)?:
            (other.outcome, other.dueAt) = (OutcomeWord.scheduled.rawValue, ExactTime(time))
        case .aside?:
            other.outcome = OutcomeWord.confirmed.rawValue
            other.detail = "by silence: a late error may deny it yet"
        case .quarantined?:
            other.outcome = OutcomeWord.quarantined.rawValue
            other.detail = "its record cannot be read: `holdfast journal quarantine list`"
        case .settled(let end)?:
            let end = EndForm(end)
            (other.outcome, other.reason) = (end.outcome.rawValue, end.reason)
        case nil: other.detail = "it ended, and the journal does not keep how: journal.history is off, or keeps less"
        }
        return try bytes(other, line: record.line)
    }

    private static func bytes(_ value: some Encodable, line: Int) throws(ToolError) -> [UInt8] {
        do {
            return Array("{\"line\":\(line),".utf8) + Array(try JSONOutput.line(value).utf8.dropFirst()) + [0x0A]
        } catch {
            throw ToolError(.internalFault, "\(error)")
        }
    }
}

extension ReportLine {
    /// Which notification a line of a report is about.
    ///
    /// - Returns: nil for one that was not accepted.
    static func place(_ bytes: [UInt8], _ range: Range<Int>) -> (line: Int, uid: UID)? {
        var (line, uid): (Int64?, Int64?)
        do {
            var members = try JSONMembers(bytes.span, in: range)
            while line == nil || uid == nil, let member = try members.next(bytes.span) {
                if JSONScanner.isString(bytes.span, in: member.name, equalTo: "line") {
                    line = try JSONScanner.integer(bytes.span, in: member.value.range)
                } else if JSONScanner.isString(bytes.span, in: member.name, equalTo: "uid") {
                    uid = try JSONScanner.integer(bytes.span, in: member.value.range)
                }
            }
        } catch {
            return nil
        }
        guard let line, let uid, line >= 0, uid >= 0 else { return nil }
        return (Int(line), UID(UInt64(uid)))
    }
}
