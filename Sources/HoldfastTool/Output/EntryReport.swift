internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// One entry with its explanation, for `show`.
struct EntryReport {
    let facts: EntryFacts
    let path: String

    /// - Throws: ``ToolError`` with status `noInput` when nothing is known of such an entry.
    func print(reveal: Bool, json: Bool, console: Console = .standard) throws {
        let explanation = EntryExplanation(facts)
        switch facts.standing {
        case .never:
            throw ToolError(.noInput, "\(path) never had an entry \(facts.uid)")
        case .forgotten:
            throw ToolError(.noInput, "\(path) has no entry \(facts.uid) any more: it was settled")
        default: break
        }
        if json, let line = try facts.json(reveal: reveal) { return console.print(line) }
        switch facts.standing {
        case .entry(let entry):
            let row = EntryRow(entry, explanation: explanation, reveal: reveal)
            console.print("\(explanation.text(of: facts.uid))\n\n\(row.text())")
        case .ended(let outcome):
            let row = OutcomeRow(outcome, blacklisted: facts.blacklisted, tellsStory: true, reveal: reveal)
            console.print(row.text(explanation))
        default: console.print(explanation.text(of: facts.uid))
        }
    }
}

extension EntryExplanation {
    /// A headline, and the sentences below it.
    func text(of uid: UID) -> String {
        let lines = sentences.flatMap { sentence in
            Self.wrapped(sentence.printable(maximumLength: 2048), width: TerminalSize.paragraph)
        }
        return (["entry \(uid): \(summary.printable(maximumLength: 200))"] + lines.map { "  \($0)" })
            .joined(separator: "\n")
    }

    /// Broken between words; a longer word has a line of its own.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
