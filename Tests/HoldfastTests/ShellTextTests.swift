import Foundation
import Testing

@testable import Holdfast

@Suite("Words for a shell")
struct ShellTextTests {
    @Test("Pasted back, a word is the same, also one that a terminal does not show, and all of it can be seen")
    func pasted() throws {
        for word in [
            "sale", "spring sale", "it's", "a\u{1B}[31mb", "a\nb\tc", "'\u{1}'\\\u{1}x4", "\u{202E}é\u{200B}",
            "\\\u{7}", "a\u{1}1", "it's\n", "\u{2028}",
        ] {
            let text = ShellText.word(word)
            let isShown = !text.unicodeScalars.contains {
                [.control, .format, .lineSeparator].contains($0.properties.generalCategory)
            }
            #expect(isShown, "\(text.debugDescription)")
            #expect(try output("printf %s \(text)") == word, "\(text.debugDescription)")
        }
        #expect(ShellText.word("spring sale") == "'spring sale'" && ShellText.word("a\u{1B}b") == #"$'a\033b'"#)
    }

    @Test(
        "The command that resumes a tag takes any bytes: as text, behind -- where they look like a flag, else in base64"
    )
    func tags() {
        #expect(TagPause.command(resuming: Array("spring sale".utf8)) == "holdfast tags resume 'spring sale'")
        #expect(TagPause.command(resuming: Array("-sale".utf8)) == "holdfast tags resume -- -sale")
        #expect(TagPause.command(resuming: Array("--all".utf8)) == "holdfast tags resume -- --all")
        #expect(TagPause.command(resuming: [0x61, 0xff]) == "holdfast tags resume --tag-base64 Yf8=")
        #expect(TagPause.command(resuming: Array("\u{FFFD}".utf8)) == "holdfast tags resume --tag-base64 77+9")
    }

    private func output(_ command: String) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", command]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
