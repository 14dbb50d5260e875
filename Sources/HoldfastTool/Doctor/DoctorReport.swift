internal import Holdfast
internal import HoldfastService

/// All that an examination has found. The names of its properties are those of the JSON.
struct DoctorReport: Encodable, Sendable {
    /// The worst.
    var level: DoctorFinding.Level
    /// The configuration's file; nil for none.
    var configuration: String?
    var faults: Int
    var warnings: Int
    var findings: [DoctorFinding]

    init(_ findings: [DoctorFinding], configuration: String?) {
        self.findings = findings
        self.configuration = configuration
        faults = findings.count { $0.level == .fault }
        warnings = findings.count { $0.level == .warning }
        level = faults > 0 ? .fault : warnings > 0 ? .warning : .ok
    }

    var status: ToolStatus {
        switch level {
        case .fault: .configuration
        case .warning: .notAllConfirmed
        case .ok, .skipped: .ok
        }
    }

    /// The last line.
    func summary(_ time: Duration) -> String {
        let well = findings.count { $0.level == .ok }
        let parts = [
            faults > 0 ? Format.plural(faults, "fault") : nil, warnings > 0 ? Format.plural(warnings, "warning") : nil,
            "\(Format.count(well)) ok",
        ].compactMap(\.self)
        return "\(parts.joined(separator: ", ")), in \(Format.duration(time))"
    }
}

/// Findings as text, one part of an examination at a time.
struct DoctorText {
    let console: Console
    /// Columns of a line.
    let width: Int

    /// Below the name of the area.
    func lines(_ area: DoctorFinding.Area, _ findings: [DoctorFinding]) -> [String] {
        guard !findings.isEmpty else { return [] }
        return [console.colored(area.rawValue, .bold)] + findings.flatMap(lines)
    }

    private static let indent = 11

    private func lines(_ finding: DoctorFinding) -> [String] {
        let subject = finding.subject.map { " \($0.printable(maximumLength: 200))" } ?? ""
        let text = "\(finding.check)\(subject): \(finding.found.withoutControls)"
        let room = max(width - Self.indent, 20)
        let indent = String(repeating: " ", count: Self.indent)
        let found = EntryExplanation.wrapped(text, width: room)
        let next =
            finding.next.map { EntryExplanation.wrapped("What to do: \($0.withoutControls)", width: room - 2) } ?? []
        let word = finding.level.rawValue.padding(8)
        let first = "  \(console.colored(word, color(finding.level))) \(found.first ?? "")"
        return [first] + found.dropFirst().map { indent + $0 } + next.map { "\(indent)  \($0)" }
    }

    private func color(_ level: DoctorFinding.Level) -> Console.Color {
        switch level {
        case .ok: .green
        case .skipped: .faint
        case .warning: .yellow
        case .fault: .red
        }
    }
}

extension String {
    /// With spaces behind it.
    fileprivate func padding(_ columns: Int) -> String { self + String(repeating: " ", count: max(columns - count, 0)) }
}
