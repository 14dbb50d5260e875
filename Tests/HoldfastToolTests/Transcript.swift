import Foundation
import Scratch
import Testing

/// The `console` blocks of a page: commands, and what they print. Replayed in one shell, in the order of the page.
///
///     ```console
///     $ command            run by bash; what follows it is what it prints, on either stream
///     > more of it         a command of several lines
///     ```
///     <!-- wait: command -->   between blocks: tried again until it succeeds, and shows nothing
///
/// In what is printed, `‹time›`, `‹span›`, `‹n›`, `‹size›` and `‹uuid›` stand for one such thing, and `‹…›` for any text. How
/// many spaces or line breaks there are between words does not matter: columns are as wide as what is in them, and
/// paragraphs break where they are full.
struct Transcript {
    enum Step: Equatable {
        case run(String, prints: [String])
        case wait(String)
    }

    private(set) var steps: [Step] = []

    init(page: String) {
        var isInside = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if !isInside {
                if let wait = line.wholeMatch(of: /<!-- wait: (.*) -->/) { steps.append(.wait(String(wait.output.1))) }
            } else if line.hasPrefix("$ ") {
                steps.append(.run(String(line.dropFirst(2)), prints: []))
            } else if case .run(let command, var prints)? = steps.last {
                if line.hasPrefix("> "), prints.isEmpty {
                    steps[steps.count - 1] = .run("\(command)\n\(line.dropFirst(2))", prints: [])
                } else {
                    prints.append(line)
                    steps[steps.count - 1] = .run(command, prints: prints)
                }
            }
        }
    }

    /// One script of all steps. What each prints ends with a line that names its number.
    func script(mark: String) -> String {
        var lines = ["exec 2>&1 </dev/null", "trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
        for (number, step) in steps.enumerated() {
            switch step {
            case .run(let command, _): lines.append(command)
            case .wait(let condition):
                lines += [
                    "waited=in-vain",
                    "for attempt in {1..1200}; do if { \(condition); } >/dev/null 2>&1; then waited=; break; fi; sleep 0.05; done",
                    "[ -z \"$waited\" ] || echo 'waited in vain'",
                ]
            }
            lines.append("printf '\\n%s %s\\n' \(mark) \(number)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What of the output is not as the page says; nil when all of it is.
    func difference(from output: String, mark: String) -> String? {
        var rest = Substring(output)
        for (number, step) in steps.enumerated() {
            guard let end = rest.firstRange(of: "\n\(mark) \(number)\n") else {
                return "the shell ended in the middle of step \(number): \(step)\n\(rest)"
            }
            let printed = String(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
            switch step {
            case .wait(let condition):
                if !printed.isEmpty { return "\(condition): \(printed)" }
            case .run(let command, let prints):
                let expected = prints.joined(separator: "\n")
                guard Self.matches(expected, printed) else {
                    return "$ \(command)\nprinted:\n\(printed)\nand not:\n\(expected)"
                }
            }
        }
        return nil
    }

    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static let kinds: [String: String] = [
        "time": #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"#, "span": #"[\d.,]+ (ms|s|min|h|days)"#, "n": #"[\d,]+"#,
        "size": #"[\d.]+ [KMGT]?B"#, "uuid": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "…": ".*",
    ]

    static func matches(_ pattern: String, _ text: String) -> Bool {
        var expression = ""
        for (index, part) in words(pattern).split(separator: "‹", omittingEmptySubsequences: false).enumerated() {
            var literal = part
            if index > 0, let end = part.firstIndex(of: "›"), let kind = kinds[String(part[..<end])] {
                expression += kind
                literal = part[part.index(after: end)...]
            } else if index > 0 {
                literal = "‹" + part
            }
            expression += NSRegularExpression.escapedPattern(for: String(literal))
        }
        return words(text).range(of: "^(?:\(expression))$", options: .regularExpression) != nil
    }
}

@Suite("Transcripts in the documentation")
struct TranscriptTests {
    @Test("A page's commands and what they print are found, and nothing else is")
    func parses() {
        let page = """
            text
            $ not this
            ```
            $ nor this
            ```
            ```console
            $ one
            a
              b
            $ two
            > more
            ```
            <!-- wait: three -->
            """
        #expect(
            Transcript(page: page).steps == [
                .run("one", prints: ["a", "  b"]), .run("two\nmore", prints: []), .wait("three"),
            ])
    }

    @Test("Placeholders stand for what they say, and for nothing else")
    func placeholders() {
        #expect(Transcript.matches("at ‹time› (‹span› ago)", "at 2026-11-21T22:26:40.123Z (4.08 min ago)"))
        #expect(Transcript.matches("‹n› of ‹size›, ‹…›.", "1,234 of 16.0 GB, (any) [thing]."))
        #expect(Transcript.matches("a‹b (c*", "a‹b (c*"))
        #expect(!Transcript.matches("‹n›", "x"))
        #expect(!Transcript.matches("‹n›", "1 2"))
        #expect(Transcript.matches("a  b\n c ‹…› e\n", "a b c\nd e"))
        #expect(!Transcript.matches("(.*)", "abc"))
        #expect(!Transcript.matches("‹time›", "2026-11-21"))
    }

    @Test("A step that prints something else is found, and so is one that was not reached")
    func differences() {
        let page = "```console\n$ one\na  ‹n›\n$ two\n```\n"
        let transcript = Transcript(page: page)
        #expect(transcript.difference(from: "a 12\n\n# 0\n\n# 1\n", mark: "#") == nil)
        #expect(transcript.difference(from: "a b\n\n# 0\n\n# 1\n", mark: "#")?.contains("$ one") == true)
        #expect(transcript.difference(from: "a 12\n\n# 0\nmore\n\n# 1\n", mark: "#")?.contains("$ two") == true)
        #expect(transcript.difference(from: "a 12\n\n# 0\n", mark: "#")?.contains("ended") == true)
    }

    @Test(
        "The story of a page happens as it is told", .timeLimit(.minutes(5)),
        arguments: [("Docs/Operate/Operating.md", 21), ("Docs/Guide/Channels.md", 10)])
    func stories(_ path: String, _ leastSteps: Int) async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        let transcript = Transcript(page: page)
        #expect(transcript.steps.count >= leastSteps)
        let folder = try TemporaryFolder()
        let mark = "step-\(UUID().uuidString)"
        try folder.write("script", "cd \(folder.path)\n\(transcript.script(mark: mark))")
        let tools = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        // Its own process group, which ends with it: the page starts processes of its own.
        let shell = try RunningTool(
            ["--kill-after=5", "240", "bash", folder("script")],
            environment: ["PATH": "\(tools):\(path)", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"], program: "/usr/bin/timeout"
        )
        let output = try await shell.result(limit: .seconds(260)).output
        if let difference = transcript.difference(from: output, mark: mark) { Issue.record("\(difference)") }
    }
}
