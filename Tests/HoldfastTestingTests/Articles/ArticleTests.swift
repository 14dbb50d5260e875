import Foundation
import Testing

@Suite("The articles of the reference")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func files(in folder: String, ending: String) -> [URL] {
        let found = FileManager.default.enumerator(
            at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? []).filter { $0.path.hasSuffix(ending) }
    }

    @Test("Each Swift block is a whole file of the tests, to the letter")
    func compiled() throws {
        let examples = Set(
            try Self.files(in: "Tests", ending: ".swift").map { try String(contentsOf: $0, encoding: .utf8) })
        let pages = ["Sources", "Journal"].flatMap { Self.files(in: $0, ending: ".md") }
        var count = 0
        for page in pages {
            let text = try String(contentsOf: page, encoding: .utf8)
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let code = try #require(block.components(separatedBy: "```\n").first)
                #expect(examples.contains(code), "\(page.lastPathComponent): \(code.prefix(200))")
                count += 1
            }
        }
        #expect(count >= 7)
    }

    @Test("Each Swift block of the pages in Docs is code of the tests, to the letter")
    func pages() throws {
        let files = try Self.files(in: "Tests", ending: ".swift").map { try String(contentsOf: $0, encoding: .utf8) }
        // A member of an example's type is shown without its indentation.
        let code = files + files.map { $0.replacing("\n    ", with: "\n") }
        // Code for other packages' clients, which the tests of foreign senders run where those are installed; and examples
        // that are packages of their own.
        for page in Self.files(in: "Docs", ending: ".md")
        where !page.path.hasSuffix("/MoreClients.md") && !page.path.contains("/Docs/ComingFrom/")
            && !page.path.contains("/Docs/Examples/")
        {
            let text = try String(contentsOf: page, encoding: .utf8)
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let quoted = try #require(block.components(separatedBy: "```\n").first)
                #expect(code.contains { $0.contains(quoted) }, "\(page.lastPathComponent): \(quoted.prefix(200))")
            }
        }
    }
}
