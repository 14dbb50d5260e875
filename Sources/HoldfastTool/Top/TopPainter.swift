/// Writes lines to a terminal: only those that have changed since they were drawn. A pure machine: lines in, bytes out.
struct TopPainter: Sendable {
    /// Whether colours are used; bold, faint and reverse are in any case.
    let usesColor: Bool
    private var drawn: [TopLine] = []
    private var size = TopSize(columns: 0, rows: 0)

    init(usesColor: Bool) { self.usesColor = usesColor }

    /// Takes over a terminal: another screen, which leaves the one before as it is, and no cursor.
    static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J"
    /// Gives it back.
    static let end = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

    /// What was drawn is gone: everything is drawn the next time.
    mutating func forget() { drawn = [] }

    /// The bytes that make a terminal show these lines.
    mutating func paint(_ lines: [TopLine], _ size: TopSize) -> String {
        var output = ""
        if size != self.size || drawn.isEmpty {
            output += "\u{1B}[0m\u{1B}[2J"
            drawn = []
        }
        for (row, line) in lines.prefix(size.rows).enumerated() where row >= drawn.count || drawn[row] != line {
            output += "\u{1B}[\(row + 1);1H" + text(line)
            // Behind a full line the cursor stands on its last column, which would be erased.
            if line.width < size.columns { output += "\u{1B}[K" }
        }
        if lines.count < drawn.count { output += "\u{1B}[\(lines.count + 1);1H\u{1B}[J" }
        (drawn, self.size) = (lines, size)
        return output
    }

    /// A line with its colours.
    func text(_ line: TopLine) -> String {
        line.parts.map { part in
            guard let code = code(part.style) else { return part.text }
            return "\u{1B}[\(code)m\(part.text)\u{1B}[0m"
        }.joined()
    }

    private func code(_ style: TopStyle) -> String? {
        switch style {
        case .plain: nil
        case .bold: "1"
        case .faint: "2"
        case .selected: "7"
        case .red: usesColor ? "31" : nil
        case .yellow: usesColor ? "33" : nil
        case .green: usesColor ? "32" : nil
        }
    }
}
