internal import Holdfast
internal import HoldfastPostgres
internal import HoldfastService

/// What a host of a fleet waits for that has no journal yet: who asks the database finds nothing wrong with one that is full, or
/// that this machine's user reaches and the service does not.
enum StartFacts {
    /// - Parameter wait: nil where nobody waits.
    static func finding(_ wait: OpeningWait?, at now: WallTime) -> [DoctorFinding] {
        guard let wait else { return [] }
        let found =
            "process \(wait.process) has been starting for \(Format.span(now.since(wait.since))), and serves nobody yet: "
            + wait.words.printable(maximumLength: 1024)
        if wait.lacksRoom {
            return [
                .fault(
                    .service, "start", nil, found,
                    next: "make room where its working copies lie, and it goes on by itself: `df -h`")
            ]
        }
        guard let error = wait.error else {
            return [
                .warning(
                    .service, "start", nil, found, next: "it goes on by itself; `holdfast postgres status` says more")
            ]
        }
        let condition = HealthCondition(databaseAway: error, since: wait.since)
        let command = condition.command.map { ": `\($0)`" } ?? ""
        return [.fault(.service, "start", nil, found, next: condition.next + command)]
    }
}
