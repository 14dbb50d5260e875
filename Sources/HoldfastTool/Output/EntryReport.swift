internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

/// One entry with its explanation, for `show`.
struct EntryReport {
    let facts: EntryFacts
    let path: String

    /// Where the journal has the entry no more. The coding keys are those of the JSON.
    private struct Settled: Encodable {
        var uid: UInt64
        var end: EndForm
        var explanation: [String]

        private enum CodingKeys: String, CodingKey { case uid, state, explanation }

        /// In one object.
        func encode(to encoder: any Encoder) throws {
            try end.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(uid, forKey: .uid)
            try container.encode("settled", forKey: .state)
            try container.encode(explanation, forKey: .explanation)
        }
    }

    /// Where its record cannot be read. The names of its properties are those of the JSON.
    private struct Unreadable: Encodable {
        var uid: UInt64
        /// `quarantined` or `unreadable`.
        var state: String
        var explanation: [String]
    }

    /// - Throws: ``ToolError`` with status `noInput` when nothing is known of such an entry.
    func print(reveal: Bool, json: Bool, console: Console = .standard) throws {
        let explanation = EntryExplanation(facts)
        switch facts.standing {
        case .never:
            throw ToolError(.noInput, "\(path) never had an entry \(facts.uid)")
        case .forgotten:
            throw ToolError(.noInput, "\(path) has no entry \(facts.uid) any more: it was settled")
        case .entry(let entry):
            let row = EntryRow(entry, explanation: explanation, reveal: reveal)
            console.print(json ? try row.json() : "\(explanation.text(of: facts.uid))\n\n\(row.text())")
        case .unreadable(let isQuarantined):
            guard json else { return console.print(explanation.text(of: facts.uid)) }
            console.print(
                try JSONOutput.line(
                    Unreadable(
                        uid: facts.uid.rawValue, state: isQuarantined ? "quarantined" : "unreadable",
                        explanation: explanation.sentences)))
        case .ended(let outcome):
            let row = OutcomeRow(outcome, blacklisted: facts.blacklisted, tellsStory: true, reveal: reveal)
            console.print(json ? try row.entryJSON(explanation) : row.text(explanation))
        case .settled(let outcome):
            guard json else { return console.print(explanation.text(of: facts.uid)) }
            let report = Settled(
                uid: facts.uid.rawValue, end: EndForm(outcome), explanation: explanation.sentences)
            console.print(try JSONOutput.line(report))
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
