internal import Foundation
internal import Holdfast
internal import HoldfastTransport
internal import HoldfastWebhooks

/// Why a journal is not open, while it is to be opened anew.
struct JournalFailure: Sendable {
    let words: String
    /// Whether nothing is wrong with the journal itself: another host has it, its database went back or is away, or the copy of it on
    /// this machine is gone.
    let isLeft: Bool
}

/// What may be wrong with a service beside its engine.
struct ServiceFindings {
    /// Why the journal that failed is not open again; nil while it is open, or has not been.
    var failure: JournalFailure?
    /// Why nothing can be kept now, of a journal in a database.
    var away: JournalError?
    /// Why a host of a fleet has no journal yet, where its own disk is full.
    var noRoom: String?
    /// Of journals in a database.
    var fleet: (WallTime) -> [HealthCondition] = { _ in [] }
    /// Lanes that hold something, and whose route the configuration does not have.
    var unserved: [JournalStatus.Lane] = []
    var webhooks: [WebhookStanding] = []
    /// Of listeners: with the last good second, in Unix seconds.
    var certificates: [(listener: String, file: String, notAfter: Int64)] = []
    /// What the configuration may take and the process may not have.
    var descriptors: String?
    /// Why the configuration that was read last was not taken up, and when the first was not; nil for one that was.
    var refusedReload: (words: String, since: WallTime)?
    /// Connections that were turned away for want of descriptors.
    var turnedAway = 0

    func conditions(now: WallTime) -> [HealthCondition] {
        [failed(now), database(now), room(now), short(now), refused].compactMap(\.self)
            + unserved.map { missing($0, now) }
            + webhooks.compactMap { failing($0, now) } + expiring(now) + fleet(now)
    }

    private func failed(_ now: WallTime) -> HealthCondition? {
        guard let failure else { return nil }
        return HealthCondition(
            .journalFailed, .fault, "journal", since: now, what: failure.words,
            next: failure.isLeft
                ? "wait a moment: the journal is opened anew by itself, and what was accepted is in the database, or in this host's copy of it. If this lasts, "
                    + "see who has which journal"
                : "see what the message names; the journal is opened anew by itself, and what was accepted is in it",
            command: failure.isLeft ? "holdfast postgres status" : "holdfast journal verify")
    }

    private func database(_ now: WallTime) -> HealthCondition? {
        away.map { HealthCondition(databaseAway: $0, since: now) }
    }

    private func room(_ now: WallTime) -> HealthCondition? {
        noRoom.map { HealthCondition(noRoom: $0, since: now) }
    }

    private func short(_ now: WallTime) -> HealthCondition? {
        guard let descriptors else { return nil }
        // First, since a status shows the beginning of what is long.
        let words =
            turnedAway > 0
            ? "\(Format.plural(turnedAway, "connection")) \(turnedAway == 1 ? "was" : "were") turned away: " : ""
        return HealthCondition(
            .descriptorsShort, .warning, "process", since: now, failures: turnedAway,
            // Told once more when senders feel it.
            cause: "\(descriptors)\(turnedAway > 0)", what: words + descriptors,
            next: "raise the limit, or lower the `connections` of the configuration")
    }

    var refused: HealthCondition? {
        guard let refusedReload else { return nil }
        // A condition is one line, and mistakes are one a line.
        let lines = refusedReload.words.split(whereSeparator: \.isNewline)
        let words = (lines.first.map { "\($0) " } ?? "") + lines.dropFirst().joined(separator: "; ")
        return HealthCondition(
            .reloadRefused, .warning, "process", since: refusedReload.since, cause: refusedReload.words,
            what:
                "the configuration was read again and is not taken up; everything stays as it was: "
                + (lines.count > 1 ? words : refusedReload.words),
            next: "mend it, and have it read again: the service would not start with it",
            command: "holdfast serve --check")
    }

    private func missing(_ lane: JournalStatus.Lane, _ now: WallTime) -> HealthCondition {
        let name = lane.key.description.printable(maximumLength: 320)
        return HealthCondition(
            .routeMissing, .fault, "lane", lane.key.description, route: lane.key.route, since: now,
            affected: lane.unconfirmed,
            what:
                "lane \(name) holds \(Format.plural(lane.unconfirmed, "notification")) and is not delivered, because the "
                + "configuration has no route of that name", next: "add the route, or take back what waits",
            command: "holdfast journal drop --lane \(ShellText.word(name))")
    }

    private func failing(_ webhook: WebhookStanding, _ now: WallTime) -> HealthCondition? {
        guard let trouble = webhook.trouble else { return nil }
        return HealthCondition(
            .webhookFailing, .warning, "webhook", webhook.name, since: webhook.figures.failingSince ?? now,
            affected: webhook.waiting, failures: webhook.figures.failuresInARow,
            what: "webhook \(webhook.name): \(trouble.printable(maximumLength: 512))",
            next: "see why its receiver does not take outcomes; requests are tried again, and none is left out")
    }

    /// One for each file, whichever listeners show it.
    private func expiring(_ now: WallTime) -> [HealthCondition] {
        Dictionary(grouping: certificates) { $0.file }.values.compactMap { shown in
            guard let first = shown.min(by: { $0.notAfter < $1.notAfter }) else { return nil }
            var notices = ExpiryNotices()
            guard let stage = notices.look(notAfter: first.notAfter, now: now) else { return nil }
            let date = ClientCertificate.text(first.notAfter)
            let when =
                stage == .over
                ? "expired on \(date), and clients refuse it"
                : "expires in \(Format.duration(.seconds(first.notAfter - now.seconds))), on \(date)"
            let names = shown.map { "gateway.\($0.listener)" }.sorted().joined(separator: ", ")
            return HealthCondition(
                .certificateExpiring, stage >= .day ? .fault : .warning, "certificate", first.file, since: now,
                cause: "\(stage)", what: "the certificate that \(names) shows to clients (\(first.file)) \(when)",
                next: "put a new one in its place, and have the service read its configuration again",
                command: "systemctl reload holdfast")
        }
    }
}
