internal import Logging

extension Consumer {
    /// - Parameter confirmedBefore: how many the error denies that counted as confirmed.
    func takeLate(_ error: PayloadError, confirmedBefore: Int, of link: Link, connection: Int) {
        let denied = link.cumulative!.quiet.deny(error)
        guard confirmedBefore > 0 else { return }
        var result: SendResult?
        if case .refused(let refusal) = error.kind { result = refusal }
        lateErrors.append(
            LateError(
                connection: connection, denied: denied, result: result,
                forgotten: max(confirmedBefore - denied.count, 0)))
    }

    /// Has entries recalled, once all that silence has confirmed on their connection lies aside.
    func recallDenied(wall: WallTime) {
        guard !lateErrors.isEmpty else { return }
        let waiting = lateErrors
        lateErrors = []
        for late in waiting {
            guard links[late.connection]?.cumulative?.window.settling ?? 0 == 0 else {
                lateErrors.append(late)
                continue
            }
            guard late.denied.count > 0 else {
                tell(late, recalled: 0)
                continue
            }
            write(settler.recall(late, lanes: lanes.map(\.id), wall: wall), connection: late.connection)
        }
    }

    /// They are unconfirmed on disk: each goes again in its place, but for the one that the service has refused.
    func takeRecalled(_ late: LateError, _ report: SettlementReport, now: Duration, wall: WallTime) {
        for run in late.denied.later {
            if run.hasOneAttempt {
                refreshDeferred(run.lane, now: now)
            } else {
                lanes[run.lane].requeue([RequeuedRuns.Run(run.uids, possiblySent: true)])
            }
        }
        tell(late, recalled: report.settled)
        guard let named = late.denied.named, let result = late.result else { return }
        var plan = SettlementPlan()
        let ticket = links[Self.noConnection]!.window.settleUnsent(named)
        plan.earliestNow = clockReading.earliest
        decide(about: named, ticket: ticket, by: result, into: &plan, now: now, wall: wall)
        carryOut(plan, connection: Self.noConnection, now: now, wall: wall)
    }

    private func tell(_ late: LateError, recalled: Int) {
        let lost = late.forgotten + late.denied.count - recalled
        let fate =
            lost == 0
            ? "all of them go again"
            : "\(recalled) go again, and \(lost), of which nothing is kept any more, are lost"
        log(
            .lateError,
            "an error came too late: \(recalled + lost) notifications that silence had confirmed were not taken; "
                + "\(fate). The quiet period is too short", ["count": .count(recalled), "lost": .count(lost)])
        board.lateError(recalled: recalled, lost: lost)
        observer.lateError(recalled: recalled, lost: lost)
        events.emit(.lateError(route: name, recalled: recalled, lost: lost))
    }
}
