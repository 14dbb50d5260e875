internal import Holdfast
internal import HoldfastService

/// A database that has the journals of a fleet.
struct DatabaseFacts: Sendable {
    enum State: Sendable {
        case unusable(JournalError)
        case usable(place: String, host: String, durability: String, warnings: [String])
    }

    var state: State
    /// How long it took to connect and to look.
    var time: Duration
    /// The journals there; nil where they could not be listed, and then why.
    var report: FleetReport?
    var failure: String?
    /// Where two servers of one cluster can be written to, which, and what to do.
    var rivals: String?
}

extension DatabaseFacts {
    var findings: [DoctorFinding] {
        switch state {
        case .unusable(let error):
            return [
                .fault(
                    .database, "database", nil, error.message,
                    next: error.code == .unreachable
                        ? "see to the server and the way to it; nothing is accepted meanwhile"
                        : "`holdfast postgres status` says more; `holdfast postgres migrate` makes the schema, and grants what a role needs"
                )
            ]
        case .usable(let place, let host, let durability, let warnings):
            return [
                .ok(.database, "database", nil, "\(place), as host \(host), looked at in \(Format.duration(time))"),
                .ok(.database, "durability", nil, durability),
            ] + warnings.map { .warning(.database, "durability", nil, $0, next: "see Docs/Operate/ManyMachines.md") }
                + (rivals.map { [.fault(.database, "servers", nil, $0, next: "see Docs/Operate/ManyMachines.md")] }
                    ?? [])
                + journals(host)
        }
    }

    private func journals(_ host: String) -> [DoctorFinding] {
        guard let report else {
            return failure.map { [.warning(.database, "journals", nil, $0, next: "see to the rights of the role")] }
                ?? []
        }
        return report.journals.compactMap { journal in
            switch journal.state {
            case .owned: .ok(.database, "lease", journal.name, "host \(journal.host ?? "unknown") renews it")
            case .closed: nil
            case .silent:
                .fault(
                    .database, "lease", journal.name, "no sign of life from host \(journal.host ?? "unknown")",
                    next: "start that host, or another: it takes the journal over by itself")
            case .free:
                .warning(
                    .database, "lease", journal.name,
                    "given up by host \(journal.host ?? "unknown"), and not delivered to the end",
                    next:
                        "a running host takes it over by itself: start one. Where one runs, `holdfast status` there says "
                        + "what is in its way, such as a key or room that it lacks")
            }
        }
    }
}
