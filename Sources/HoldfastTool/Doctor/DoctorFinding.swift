/// One thing that the doctor has looked at. The names of its properties are those of the JSON.
struct DoctorFinding: Encodable, Hashable, Sendable {
    enum Level: String, Encodable, Comparable, CaseIterable, Sendable {
        case ok
        /// Nothing was looked at, for the reason that is given.
        case skipped
        /// Something holds less than it seems, or becomes a fault if nobody acts.
        case warning
        /// Something does not work, or nothing that is accepted would be safe.
        case fault

        static func < (one: Level, other: Level) -> Bool {
            // Both are in the list of all cases.
            allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
        }
    }

    /// The parts of an examination, in the order in which they are told.
    enum Area: String, Encodable, CaseIterable, Sendable {
        case configuration, files, journal, disk, service, descriptors, limits, listeners, database, routes, webhooks
    }

    var level: Level
    var area: Area
    /// What was looked at: `sync-time`, `credentials`.
    var check: String
    /// The route, listener, path or address; nil where there is only one.
    var subject: String?
    /// What was found: a sentence without its full stop.
    var found: String
    /// What to do; nil for what is well.
    var next: String?

    static func ok(_ area: Area, _ check: String, _ subject: String? = nil, _ found: String) -> DoctorFinding {
        DoctorFinding(level: .ok, area: area, check: check, subject: subject, found: found)
    }

    static func skipped(_ area: Area, _ check: String, _ subject: String? = nil, _ found: String) -> DoctorFinding {
        DoctorFinding(level: .skipped, area: area, check: check, subject: subject, found: found)
    }

    static func warning(
        _ area: Area, _ check: String, _ subject: String? = nil, _ found: String, next: String
    ) -> DoctorFinding {
        DoctorFinding(level: .warning, area: area, check: check, subject: subject, found: found, next: next)
    }

    static func fault(
        _ area: Area, _ check: String, _ subject: String? = nil, _ found: String, next: String
    ) -> DoctorFinding {
        DoctorFinding(level: .fault, area: area, check: check, subject: subject, found: found, next: next)
    }
}
