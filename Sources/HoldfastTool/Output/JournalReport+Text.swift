internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// A journal in figures, for people.
extension JournalReport {
    func text() -> String {
        var rows = [
            ("unconfirmed", Format.count(unconfirmed), "accepted, and not answered for yet"),
            (
                "possibly sent", Format.count(possiblySent),
                owner == nil ? "of them: no answer is known" : "of them, were the owner to crash now"
            ),
            ("deferred", Format.count(deferred), "of them, waiting for their time"),
        ]
        if let scheduled {
            rows.append(("scheduled", Format.count(scheduled), "of them, to be delivered from a time on"))
        }
        if quarantined > 0 {
            rows.append(
                ("quarantined", Format.count(quarantined), "cannot be read; see `holdfast journal quarantine list`"))
        }
        rows += [
            ("rejections", Format.count(rejections), "refused for good"),
            ("blacklist", Format.count(blacklist), "tokens not to be sent to"),
        ]
        if let blacklistDamage {
            rows.append(
                (
                    "blacklist damage", Format.plural(blacklistDamage, "place"),
                    "tokens on it may be sent to; see `holdfast journal verify`"
                ))
        }
        rows += [
            ("next UID", Format.count(nextUID), ""),
            ("in use", Format.bytes(usedBytes), limitBytes > 0 ? "of \(Format.bytes(limitBytes))" : ""),
        ]
        if let halfSealed {
            rows.append(("sealed", "by half", halfSealed))
        } else if let sealedWith {
            let others =
                sealedWith.count > 1 ? "; some of it may need \(sealedWith.dropFirst().joined(separator: ", "))" : ""
            rows.append(("sealed", "yes", "with key \(sealedWith[0])\(others)"))
        }
        if let history { rows.append(("history", Format.count(history.count), history.words(isInUse: owner != nil))) }
        if let unreadableOutcomes {
            rows.append(
                (
                    "history damage", Format.plural(unreadableOutcomes, "outcome"),
                    "cannot be read, and readers are told of a gap; see `holdfast journal verify`"
                ))
        }
        if let aside {
            let meaning = "confirmed by silence, and kept in case a late error denies them"
            rows.insert(("kept aside", Format.count(aside), meaning), at: 3)
        }
        for (name, count) in [
            ("accepted", totals.accepted), ("confirmed", totals.confirmed), ("rejected", totals.rejected),
            ("expired", totals.expired), ("unknown", totals.unknown), ("withdrawn", totals.withdrawn),
            ("superseded", totals.superseded ?? 0),
            ("possible duplicates", totals.possibleDuplicates),
        ] where count > 0 || name == "accepted" || name == "confirmed" {
            rows.append(("ever \(name)", Format.count(count), ""))
        }
        let heading = [
            "\(journal): " + (owner.map { "in use by \($0)" } ?? "at rest"),
            endpoint.map { "delivers to \($0)" } ?? "it remembers no route: an application's own, or a configuration's",
        ]
        return [
            heading.joined(separator: "; "), DeliverySummary.table(rows), afterCrashText, lanesText, holdingText,
            topicsText, pausedTags.map { PausedTagRow.table($0, indent: "  ") },
            producersText, readersText, troublesText, conditionsText,
        ].compactMap { $0 }.joined(separator: "\n")
    }

    /// `nil` if a crash would change nothing.
    private var afterCrashText: String? {
        guard afterCrash.sentAgain + afterCrash.unknown > 0 else { return nil }
        let when = owner == nil ? "when it is delivered" : "were its process to crash now"
        var parts: [String] = []
        if afterCrash.sentAgain > 0 {
            parts.append("\(Format.count(afterCrash.sentAgain)) sent again with the same apns-id")
        }
        if afterCrash.unknown > 0 {
            parts.append("\(Format.count(afterCrash.unknown)) given up as unknown (at most once)")
        }
        return "of what may have been sent, \(when): at most \(parts.joined(separator: ", "))"
    }

    /// Lanes that hold something, or stand still.
    private var lanesText: String? {
        let shown = lanes.filter { $0.lane.unconfirmed > 0 || $0.lane.state != "running" }
        guard !shown.isEmpty else { return nil }
        let rows = shown.map { row in
            let lane = row.lane
            return [
                "  " + lane.lane.printable(maximumLength: 320), lane.state, Format.count(lane.unconfirmed),
                Format.count(lane.deferred), row.oldestAcceptedAt?.text ?? "",
                [
                    [lane.since.map { "since \($0.text)" }, lane.reason?.printable(maximumLength: 512)]
                        .compactMap { $0 }.joined(separator: ": "),
                    lane.nextProbe.map { "tries one entry at \($0.text)" } ?? "",
                    lane.scheduled.map { "\(Format.count($0)) scheduled" } ?? "",
                    lane.heldByTag.map { "\(Format.count($0)) held by paused tags" } ?? "",
                ].filter { !$0.isEmpty }.joined(separator: "; "),
            ]
        }
        return Columns.text([["  LANE", "STATE", "UNCONFIRMED", "DEFERRED", "OLDEST", ""]] + rows, right: [2, 3])
    }

    /// What stands in a table of its own.
    private static let told: Set<String> = Set(
        [
            HealthCondition.Kind.laneStopped, .credentialsRefused, .wrongServer, .topicSetAside, .massBadTokens,
            .throttled, .parked, .ownershipUnproven, .outcomesFull, .journalUnreadable, .blacklistDamaged,
            .entriesQuarantined, .historyDamaged, .webhookFailing,
        ].map(\.rawValue))

    private var conditionsText: String? {
        let shown = (conditions ?? []).filter { $0.severity != "notice" && !Self.told.contains($0.kind) }
        guard !shown.isEmpty else { return nil }
        return shown.prefix(20).map { condition in
            let command = condition.command.map { ": \($0.withoutControls)" } ?? ""
            let trial = condition.nextTry.map { ", next try at \($0.text)" } ?? ""
            return "\(condition.severity) \(condition.kind) since \(condition.since.text)\(trial): "
                + "\(condition.what.printable(maximumLength: 512))\n  next: \(condition.next)\(command)"
        }.joined(separator: "\n")
    }

    private var holdingText: String? {
        guard let routesHolding else { return nil }
        let rows = routesHolding.map { held in
            ["  " + held.route.printable(maximumLength: 256), held.reason.printable(maximumLength: 512)]
        }
        return Columns.text([["  ROUTE HOLDING", "BECAUSE"]] + rows)
    }

    private var topicsText: String? {
        guard let topicsSetAside else { return nil }
        let rows = topicsSetAside.map { topic in
            [
                "  " + topic.topic.printable(maximumLength: 256), (topic.route ?? "").printable(maximumLength: 256),
                topic.since.text, topic.nextProbe?.text ?? "", topic.reason.printable(maximumLength: 512),
            ]
        }
        return Columns.text([["  TOPIC SET ASIDE", "ROUTE", "SINCE", "TRIED AT", "BECAUSE"]] + rows)
    }

    /// More than one: with one alone its figures are the journal's.
    private var producersText: String? {
        guard producers.count > 1 else { return nil }
        let rows = producers.map { producer in
            [
                "  " + producer.producer.printable(maximumLength: 64), Format.count(producer.unconfirmed),
                Format.count(producer.totals.accepted), Format.count(producer.totals.confirmed),
                Format.count(producer.totals.rejected),
            ]
        }
        return Columns.text(
            [["  PRODUCER", "UNCONFIRMED", "ACCEPTED", "CONFIRMED", "REJECTED"]] + rows, right: [1, 2, 3, 4])
    }
}
