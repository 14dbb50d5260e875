import Foundation
import Testing

@testable import Holdfast

/// Docs/Operate/Observability.md against the code, both ways.
@Suite("The page on observability") struct PageTests {
    private let page: String

    init() throws {
        page = try String(
            contentsOf: Repository.root.appendingPathComponent("Docs/Operate/Observability.md"), encoding: .utf8)
    }

    /// The cells of all table rows that begin with a name in backticks.
    private var rows: [[String]] {
        page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func name(_ cell: String) -> String { cell.replacingOccurrences(of: "`", with: "") }

    @Test("It lists every log line with its level and whether it is held back, and no other") func lines() {
        var found: [String: String] = [:]
        for row in rows where row.count == 5 && !row[0].hasPrefix("`holdfast_") {
            found[name(row[0])] = "\(row[1]) \(row[2])"
        }
        let expected = Dictionary(
            uniqueKeysWithValues: LogLine.allCases.map {
                ($0.rawValue, "\($0.level) \($0.isLimited ? "held back" : "each")")
            })
        #expect(found == expected)
    }

    @Test("It lists every metric with its kind and its labels, and no other") func metrics() {
        var found: [String: String] = [:]
        for row in rows where row[0].hasPrefix("`holdfast_") { found[name(row[0])] = "\(row[1]) \(name(row[2]))" }
        let expected = Dictionary(
            uniqueKeysWithValues: MetricName.allCases.map {
                ($0.rawValue, "\($0.kind.rawValue) \($0.labels.joined(separator: ", "))")
            })
        #expect(found == expected)
    }

    @Test("The page on conditions lists every kind, with when it begins and ends, and no other") func kinds() throws {
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("Docs/Reference/Conditions.md"), encoding: .utf8)
        let listed = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { row -> String? in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return cells.count == 5 ? name(cells[0]) : nil
        }
        #expect(Set(listed) == Set(HealthCondition.Kind.all.map(\.rawValue)))
        #expect(listed.count == HealthCondition.Kind.all.count)
    }

    @Test("It names every method of a listener") func listener() throws {
        let source = try String(
            contentsOf: Repository.root.appendingPathComponent("Sources/Holdfast/Telling/MetricsListener.swift"),
            encoding: .utf8)
        let methods = Set(source.matches(of: /\n    func (\w+)\(/).map { String($0.1) })
        #expect(methods.count > 15)
        for method in methods {
            #expect(page.contains("`\(method)"), "\(method) is not in Docs/Operate/Observability.md")
        }
    }
}
