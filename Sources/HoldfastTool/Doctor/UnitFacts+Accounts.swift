internal import Holdfast

extension UnitFacts {
    /// Users and groups that this machine does not have: systemd starts nothing as one of them.
    var accountFindings: [DoctorFinding] {
        // Numbers need no name, and what is behind `%` is known to systemd alone.
        func isKnown(_ name: String, _ isThere: (String) -> Bool) -> Bool {
            UInt32(name) != nil || name.contains("%") || isThere(name)
        }
        func missing(_ setting: String, _ name: String, _ code: String, _ make: String) -> DoctorFinding {
            .fault(
                .files, "unit", path,
                "\(setting)=\(name): this machine has none of this name, and the service does not start (\(code))",
                next: "`\(make)` makes it; or correct the unit, and `systemctl daemon-reload`")
        }
        var findings: [DoctorFinding] = []
        if !makesUser, let user, !isKnown(user, { SystemAccount(named: $0) != nil }) {
            let make = "useradd --system --no-create-home \(ShellText.word(user))"
            findings.append(missing("User", user, "217/USER", make))
        }
        var groups = furtherGroups.map { ("SupplementaryGroups", $0) }
        if !makesUser, let group { groups.insert(("Group", group), at: 0) }
        for (setting, name) in groups where !isKnown(name, { SystemGroup(named: $0) != nil }) {
            findings.append(missing(setting, name, "216/GROUP", "groupadd --system \(ShellText.word(name))"))
        }
        return findings
    }
}
