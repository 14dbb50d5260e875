internal import Holdfast
internal import HoldfastService

extension TallyRow {
    /// For people, with the sum below.
    static func table(_ rows: [TallyRow]) -> String {
        let heading = [["LANE", "TOPIC", "STATE", "COUNT", "OLDEST"]]
        let sum = ["", "", "all", Format.count(rows.reduce(0) { $0 + $1.count }), ""]
        return Columns.text(
            heading
                + rows.map { row in
                    [
                        row.lane.printable(maximumLength: 80), row.topic?.printable(maximumLength: 64) ?? "(others)",
                        row.state, Format.count(row.count), row.oldestAcceptedAt,
                    ]
                } + [sum], right: [3])
    }
}

/// Text in columns, each as wide as its widest cell.
enum Columns {
    /// - Parameters:
    ///   - right: the columns whose cells stand at their right edge: numbers.
    ///   - widest: a cell with more characters makes its own line longer, and not all others.
    static func text(_ rows: [[String]], right: Set<Int> = [], widest: Int = .max) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                if cell.count <= widest { widths[index] = max(widths[index], cell.count) }
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { index, cell in
                let padding = String(repeating: " ", count: max(0, widths[index] - cell.count))
                return right.contains(index) ? padding + cell : cell + padding
            }
            var line = Substring(cells.joined(separator: "  "))
            while line.last == " " { line.removeLast() }
            return String(line)
        }.joined(separator: "\n")
    }
}
